package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// idempotenceBreak: within one epoch of a producer id a leader takes batches
// without a gap in their sequence. If a record of unknown outcome is not in the
// log at the end, nothing that was sent after it in that epoch is. (One that was
// refused for certain leaves no gap: the producer numbers the rest anew.) It judges
// sends whose session tells the producer id and epoch; a client that tells neither
// gives it nothing to do.
type idempotenceBreak struct{ tally }

func (*idempotenceBreak) name() string { return "idempotence-break" }

// sequenceOf is one producer epoch in one partition.
type sequenceOf struct {
	tp    kafka.TopicPartition
	id    kafka.ProducerID
	epoch kafka.ProducerEpoch
}

func (w *idempotenceBreak) finish(f *facts, r *Report) {
	if f.history.identified == 0 {
		return
	}
	missing := map[sequenceOf]*send{} // the first that is not there
	for _, s := range f.history.order {
		if s.session == nil || s.session.ProducerID < 0 || s.session.ProducerEpoch < 0 || s.tp.Partition < 0 || s.session.Txn != 0 {
			continue
		}
		key := sequenceOf{s.tp, s.session.ProducerID, s.session.ProducerEpoch}
		hole := missing[key]
		landed := s.outcome == event.SendOK && s.promised()
		if hole == nil {
			if s.outcome == event.SendUnknown && f.history.statusOf(s) == statusRefuted {
				missing[key] = s
			}
			continue
		}
		rd := f.history.reading(s.tp)
		d := rd.lastDrained()
		if !landed || d.seq < s.done || d.end <= s.offset {
			continue
		}
		w.checks++
		if r.full(w.name(), s.tp) {
			continue
		}
		x := Finding{Rule: w.name(), Verdict: Violation, Seq: s.done, At: s.doneAt, TP: s.tp, Offset: s.offset, Last: s.offset, Count: 1,
			Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: s.client, Attempt: s.attempt, Witness: []uint64{hole.invoked, s.invoked, s.done, d.seq},
			Text: fmt.Sprintf("%s: %s was sent (event %d) before %s (event %d) in epoch %d of producer %d, and only the later one is in the log: at offset %d",
				s.tp, hole.what(), hole.invoked, s.what(), s.invoked, key.epoch, key.id, s.offset)}
		if p := f.partition(s.tp); p != nil {
			x = x.excuse(p.excuseBetween(s.offset, hole.invoked, d.seq))
		}
		r.settle(f, x, circumstances{client: s.client, session: s.session})
	}
	for _, s := range f.history.order {
		if s.session != nil && s.session.ProducerID >= 0 && s.session.Txn == 0 && s.promised() {
			w.checks++
		}
	}
}
