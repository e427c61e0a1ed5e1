package checker

import "fmt"

// antiDependencyCycle: transactions of which one read before another wrote, and
// yet comes after it (Adya's G-single with one such edge, G2 with more). Kafka
// promises no serialisability, so this is a note: how far a workload is from it.
type antiDependencyCycle struct{ tally }

func (*antiDependencyCycle) name() string { return "anti-dependency-cycle" }

func (w *antiDependencyCycle) finish(f *facts, r *Report) {
	g := f.flows()
	isRW := func(e flow) bool { return e.kind == rw }
	for _, edges := range g {
		for _, e := range edges {
			if isRW(e) {
				w.checks++
			}
		}
	}
	if w.checks == 0 {
		return
	}
	cycles := cyclesOf(g, func(flow) bool { return true }, isRW)
	if len(cycles) == 0 {
		return
	}
	name := "G-single"
	if cycles[0].count(rw) > 1 {
		name = "G2"
	}
	r.Notes = append(r.Notes, Note{w.name(), cycles[0].last().when(), fmt.Sprintf("%s of transactions, never promised not to be; one (%s): %s",
		count(len(cycles), "cycle"), name, cycles[0].story(f.txns))})
}
