package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// defaultProducerExpiration is Kafka's default of producer.id.expiration.ms, ns.
const defaultProducerExpiration = 24 * 3600 * 1_000_000_000

// idempotenceBreak: within one epoch of a producer id a leader takes batches
// without a gap in their sequence. If a record of unknown outcome is not in the
// log at the end, nothing that was sent after it in that epoch is. (One that was
// refused for certain leaves no gap: the producer numbers the rest anew.) It judges
// sends whose session tells the producer id and epoch; a client that tells neither
// gives it nothing to do.
//
// A leader that holds nothing of a producer takes its first batch with whatever
// sequence. So the gap must lie behind a committed record of the producer, and not
// so long behind that the leader forgot it (producer.id.expiration.ms):
//
//	a, acknowledged ── b, unknown, not there ── c, acknowledged above a
type idempotenceBreak struct{ tally }

func (*idempotenceBreak) name() string { return "idempotence-break" }

// sequenceOf is one producer epoch in one partition.
type sequenceOf struct {
	tp    kafka.TopicPartition
	id    kafka.ProducerID
	epoch kafka.ProducerEpoch
}

// gap is a record that is not in the log, and the last one before it that is.
type gap struct{ before, missing *send }

func (w *idempotenceBreak) finish(f *facts, r *Report) {
	if f.history.identified == 0 {
		return
	}
	known := map[sequenceOf]*send{} // of each producer, in whatever epoch: the last that is there for certain
	gaps := map[sequenceOf]gap{}    // of each epoch the first
	for s := range f.history.sends.each() {
		if s.session == nil || s.session.ProducerID < 0 || s.session.ProducerEpoch < 0 || s.tp.Partition < 0 || s.session.Txn != 0 {
			continue
		}
		key := sequenceOf{s.tp, s.session.ProducerID, s.session.ProducerEpoch}
		producer := sequenceOf{s.tp, s.session.ProducerID, -1}
		if s.promised() {
			w.checks++
			w.judge(f, r, gaps[key], s, key)
			known[producer] = s
		} else if b := known[producer]; b != nil && gaps[key].missing == nil && s.outcome == event.SendUnknown && f.history.statusOf(s) == statusRefuted {
			gaps[key] = gap{b, s}
		}
	}
}

// judge looks at a record that was acknowledged after a gap in its epoch.
func (w *idempotenceBreak) judge(f *facts, r *Report, g gap, s *send, key sequenceOf) {
	hole := g.missing
	if hole == nil || s.offset <= g.before.offset || f.clocks.most(g.before.answered(), s.answered()) > f.profile.millis("", "producer.id.expiration.ms", defaultProducerExpiration) {
		return
	}
	d := f.history.reading(s.tp).lastDrained()
	if d.seq < s.done || d.end <= s.offset || r.full(w.name(), s.tp) {
		return
	}
	x := Finding{Rule: w.name(), Verdict: Violation, Seq: s.done, At: s.doneAt, TP: s.tp, Offset: s.offset, Last: s.offset, Count: 1,
		Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: s.client, Attempt: s.attempt,
		Witness: []uint64{g.before.done, hole.invoked, s.invoked, s.done, d.seq},
		Text: fmt.Sprintf("%s: %s was sent (event %d) before %s (event %d) in epoch %d of producer %d, and only the later one is in the log: at offset %d",
			s.tp, hole.what(), hole.invoked, s.what(), s.invoked, key.epoch, key.id, s.offset)}
	if p := f.partition(s.tp); p != nil {
		x = x.excuse(p.excuseBetween(g.before.offset, hole.invoked, d.seq))
	}
	r.settle(f, x, circumstances{client: s.client, session: s.session}, [2]stamp{hole.called(), d.stamp()}, [2]stamp{s.answered(), d.stamp()})
}
