package checker

import "fmt"

// writeCycle: committed transactions whose records interleave, so that no order
// of them explains all partitions (Adya's G0, and G1c with a write-write edge).
// Kafka has no write locks, so this is a note.
type writeCycle struct{ tally }

func (*writeCycle) name() string { return "write-cycle" }

func (w *writeCycle) finish(f *facts, r *Report) {
	g := f.flows()
	isWW := func(e flow) bool { return e.kind == ww }
	for _, edges := range g {
		for _, e := range edges {
			if isWW(e) {
				w.checks++
			}
		}
	}
	if w.checks == 0 {
		return
	}
	cycles := cyclesOf(g, isWW, isWW)
	how := "by their writes alone (G0)"
	if len(cycles) == 0 {
		cycles = cyclesOf(g, func(e flow) bool { return e.kind == ww || e.kind == wr }, isWW)
		how = "by their writes and reads (G1c)"
	}
	if len(cycles) > 0 {
		r.Notes = append(r.Notes, Note{w.name(), cycles[0].last().when(), fmt.Sprintf("%s of transactions %s, never promised not to be; one: %s",
			count(len(cycles), "cycle"), how, cycles[0].story(f.txns))})
	}
}
