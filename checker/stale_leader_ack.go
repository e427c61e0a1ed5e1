package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// staleLeaderAck: a success is told only for a record that the newest leader
// holds: a leader that was superseded can commit nothing that its successor
// lacks.
type staleLeaderAck struct{ tally }

func (*staleLeaderAck) name() string { return "stale-leader-ack" }

func (*staleLeaderAck) kinds() []event.Kind { return []event.Kind{event.SendOK} }

func (w *staleLeaderAck) observe(f *facts, e *event.Event, r *Report) {
	p := f.watched(e.TP())
	if e.Acks != -1 || e.Offset == kafka.NoOffset || p == nil {
		return
	}
	w.checks++
	s := f.history.send(e.Attempt)
	if p.leader.log.end > e.Offset || s == nil || r.full(w.name(), p.tp) {
		return
	}
	x := Finding{Rule: w.name(), Verdict: Violation, Seq: e.Seq, At: e.At, TP: p.tp, Offset: e.Offset, Last: e.Offset, Count: 1,
		Node: p.leader.node, Epoch: p.epoch, Client: e.Client, Attempt: e.Attempt, Witness: []uint64{s.invoked, e.Seq},
		Text: fmt.Sprintf("%s: %s was acknowledged with acks=all at offset %d (event %d), and the log of broker %d, leader of epoch %d, ends at %d",
			p.tp, s.what(), e.Offset, e.Seq, p.leader.node, p.epoch, p.leader.log.end)}
	r.settle(f, x.excuse(p.excuseBetween(e.Offset, s.invoked, e.Seq)), circumstances{client: e.Client, acks: e.Acks})
}
