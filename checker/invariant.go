package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// invariant: no state machine stopped itself because its own invariant broke.
type invariant struct{ tally }

func (*invariant) name() string { return "invariant" }

func (*invariant) kinds() []event.Kind { return []event.Kind{event.Invariant} }

func (i *invariant) observe(_ *facts, e *event.Event, r *Report) {
	r.Findings = append(r.Findings, Finding{Rule: i.name(), Verdict: Violation, Seq: e.Seq, At: e.At, Witness: []uint64{e.Seq}, TP: e.TP(),
		Offset: kafka.NoOffset, Last: kafka.NoOffset, Node: e.Node, Text: fmt.Sprintf("node %d stopped on a broken invariant: %s", e.Node, e.Text)})
}

// finish counts one check for a history that comes from inside.
func (i *invariant) finish(f *facts, _ *Report) {
	if len(f.order) > 0 {
		i.checks++
	}
}
