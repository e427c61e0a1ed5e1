package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// underReplicatedAck: a success with acks=all is told only for a record that was
// committed while the ISR had min.insync.replicas members. (A leader that finds
// the ISR too small when it would answer says NOT_ENOUGH_REPLICAS_AFTER_APPEND.)
type underReplicatedAck struct{ tally }

func (*underReplicatedAck) name() string { return "under-replicated-ack" }

func (*underReplicatedAck) kinds() []event.Kind { return []event.Kind{event.SendOK} }

func (w *underReplicatedAck) observe(f *facts, e *event.Event, r *Report) {
	if e.Acks != -1 || e.Offset == kafka.NoOffset {
		return
	}
	p, s := f.partition(e.TP()), f.history.send(e.Attempt)
	if p == nil || s == nil || len(p.sizes) == 0 {
		return
	}
	size, by, how := p.largestISR(s.invoked, e.Seq), e.Seq, "the ISR had"
	if p.leader != nil {
		if e.Offset >= p.truth.end {
			return // acked-before-commit tells
		}
		c := p.committer(e.Offset)
		size, by, how = c.isr, c.Seq, fmt.Sprintf("broker %d committed it with an ISR of", c.Node)
	}
	if size == 0 {
		return
	}
	w.checks++
	if need := p.needs(f); size < need && !r.full(w.name(), p.tp) {
		r.settle(f, Finding{Rule: w.name(), Verdict: Violation, Seq: e.Seq, At: e.At, TP: p.tp, Offset: e.Offset, Last: e.Offset, Count: 1,
			Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: e.Client, Attempt: e.Attempt, Witness: []uint64{s.invoked, by, e.Seq},
			Text: fmt.Sprintf("%s: %s was acknowledged with acks=all at offset %d (event %d), and %s %s; min.insync.replicas is %d",
				p.tp, s.what(), e.Offset, e.Seq, how, count(size, "member"), need)}, circumstances{client: e.Client, acks: e.Acks, short: true})
	}
}

// needs is min.insync.replicas, or the number of replicas if there are fewer.
func (p *partition) needs(f *facts) int {
	return min(f.profile.minISR(p.tp.Topic), max(len(p.replicas), 1))
}
