package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// circularFlow: among transactions that read committed, information flows one
// way. If T1 read what T2 wrote, T2 was committed before, so it cannot have read
// what T1 wrote (Adya's G1c, with nothing but write-read edges). Who reads
// uncommitted may see it; that is a note.
type circularFlow struct{ tally }

func (*circularFlow) name() string { return "circular-flow" }

func (w *circularFlow) finish(f *facts, r *Report) {
	g := f.flows()
	for _, edges := range g {
		for _, e := range edges {
			if e.kind == wr {
				w.checks++
			}
		}
	}
	if w.checks == 0 {
		return
	}
	committed := func(e flow) bool { return e.kind == wr && e.committed }
	for _, c := range cyclesOf(g, committed, committed) {
		x := f.txns.order[c.nodes[0]]
		last := c.last()
		r.settleTxn(f, Finding{Rule: w.name(), Verdict: Violation, Seq: last.seq, At: last.at, TP: last.tp,
			Offset: last.offset, Last: last.offset, Count: len(c.nodes), Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: x.client,
			Witness: c.witness(), Text: "transactions that read committed depend on each other: " + c.story(f.txns)}, circumstances{readCommitted: true})
	}
	any := func(e flow) bool { return e.kind == wr }
	uncommitted := func(e flow) bool { return e.kind == wr && !e.committed }
	if cycles := cyclesOf(g, any, uncommitted); len(cycles) > 0 {
		r.Notes = append(r.Notes, Note{w.name(), cycles[0].last().when(), fmt.Sprintf("%s of transactions that read uncommitted; one: %s", count(len(cycles), "cycle"), cycles[0].story(f.txns))})
	}
}
