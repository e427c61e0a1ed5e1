package checker

import (
	"fmt"
	"strings"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// illegalReset: a position is reset as out of range only where the log does not
// hold it, and as truncated only where the log was cut below it. It is broken if
// what lay at the position before lies there after, with no start above it.
type illegalReset struct {
	tally
	resets []reset
}

// reset is a PositionReset that a broker caused.
type reset struct {
	stamp
	client   string
	tp       kafka.TopicPartition
	from, to kafka.Offset
	reason   string
	follower bool
}

func (*illegalReset) name() string { return "illegal-reset" }

func (*illegalReset) kinds() []event.Kind { return []event.Kind{event.PositionReset} }

func (w *illegalReset) observe(f *facts, e *event.Event, _ *Report) {
	if e.Offset != kafka.NoOffset && (strings.HasPrefix(e.Text, "out-of-range") || strings.HasPrefix(e.Text, "truncated")) {
		w.resets = append(w.resets, reset{stampOf(e), e.Client, e.TP(), e.Offset, e.End, e.Text, f.servedByFollower(e)})
	}
}

func (w *illegalReset) finish(f *facts, r *Report) {
	for i := range w.resets {
		s := &w.resets[i]
		w.checks++
		rd := f.history.reading(s.tp)
		held := s.from // what the log must not hold
		if strings.HasPrefix(s.reason, "truncated") {
			held-- // the last record that the consumer was given
		}
		p := w.heldThroughout(f, rd, s, held)
		if p == nil || r.full(w.name(), s.tp) {
			continue
		}
		after := rd.poll(p.last)
		x := Finding{Rule: w.name(), Verdict: Violation, Seq: s.seq, At: s.at, TP: s.tp, Offset: s.from, Last: s.from,
			Node: kafka.NoBroker, Epoch: p.epoch, Client: s.client, Attempt: p.attempt, Witness: []uint64{p.proof, s.seq, after.seq},
			Text: fmt.Sprintf("%s: the position of %s was reset from %d to %d as %s (event %d), and the log held offset %d before (event %d) and after (event %d)",
				s.tp, s.client, s.from, s.to, s.reason, s.seq, held, p.proof, after.seq)}
		if part := f.partition(s.tp); part != nil {
			x = x.excuse(part.excuseBetween(held, 0, after.seq))
		}
		r.settle(f, x, circumstances{client: s.client, follower: s.follower}, [2]stamp{rd.provenAt(p), s.stamp}, [2]stamp{s.stamp, after.stamp()})
	}
}

// heldThroughout is the only record at an offset, proven before a reset and
// read after it; nil for none.
func (w *illegalReset) heldThroughout(f *facts, rd *reading, s *reset, o kafka.Offset) *place {
	x := rd.index(&f.history)
	i := x.find(o)
	if o < rd.facts.startAt(&f.clocks, s.stamp) || i >= len(x.places) {
		return nil
	}
	p := &x.places[i]
	if _, other := x.rivals(i); other != nil || !p.data() || p.offset != o || p.proof >= s.seq || p.last < 0 || rd.poll(p.last).seq <= s.seq {
		return nil
	}
	return p
}
