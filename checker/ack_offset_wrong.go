package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// ackOffsetWrong: a record lies at the offset that its producer was told. It is
// broken when the record was read elsewhere and never there, though somebody
// read there or the producer is idempotent, whose records lie at one offset.
type ackOffsetWrong struct{ tally }

func (*ackOffsetWrong) name() string { return "ack-offset-wrong" }

func (w *ackOffsetWrong) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		x := rd.index(&f.history)
		for i := range x.places {
			p := &x.places[i]
			if p.acked { // here it is, if anybody came by
				if p.first >= 0 {
					w.checks++
				}
				continue
			}
			s := p.send
			if s == nil || p.first < 0 || p.offset != s.seen || s.outcome != event.SendOK || s.offset == kafka.NoOffset || s.tp != rd.tp {
				continue
			}
			w.checks++
			if !rd.isElsewhere(s) {
				continue
			}
			last := x.coverAt(rd, s.offset)
			if passed := last != nil && f.clocks.before(s.called(), last.stamp()); !passed && !f.profile.idempotent(s.client) || r.full(w.name(), rd.tp) {
				continue
			}
			r.settle(f, w.wrong(f, rd, p), circumstances{client: s.client, acks: s.acks})
		}
	}
}

func (w *ackOffsetWrong) wrong(f *facts, rd *reading, p *place) Finding {
	s, read := p.send, rd.poll(p.first)
	found := Finding{Rule: w.name(), Verdict: Violation, Seq: s.done, At: s.doneAt, TP: rd.tp, Offset: s.offset, Last: s.offset, Count: 1,
		Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: s.client, Attempt: s.attempt, Witness: []uint64{s.done, read.seq},
		Acked: Moment{s.done, s.doneAt, kafka.NoBroker, fmt.Sprintf("%s acknowledged at offset %d", s.what(), s.offset)},
		Text:  fmt.Sprintf("%s: %s was acknowledged at offset %d (event %d) and lies at offset %d (event %d)", rd.tp, s.what(), s.offset, s.done, p.offset, read.seq)}
	if part := f.partition(rd.tp); part != nil {
		return found.excuse(part.excuseBetween(s.offset, s.invoked, read.seq))
	}
	return found
}
