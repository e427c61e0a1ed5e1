package checker

import (
	"cmp"
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// logStartRegression: the start of a log only goes up, and nothing below it is
// given to a reader who came later. What a leader did alone the next one need not
// have heard of; a DeleteRecords that was answered every live replica has done.
type logStartRegression struct{ tally }

func (*logStartRegression) name() string { return "log-start-regression" }

func (w *logStartRegression) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		if len(rd.facts.starts) == 0 && len(rd.facts.ends) == 0 {
			continue
		}
		w.answers(f, r, rd)
		w.moves(f, r, rd)
		w.reads(f, r, rd)
	}
}

// answers compares what clients were told.
func (w *logStartRegression) answers(f *facts, r *Report, rd *reading) {
	asked := rd.facts.answers(false, event.ReadUncommitted)
	done := slices.Clone(asked)
	slices.SortStableFunc(done, func(a, b endOffset) int { return cmp.Compare(a.done.seq, b.done.seq) })
	var highest *endOffset
	next, moved := 0, 0
	var at endOffset
	for i := range asked {
		a := &asked[i]
		for ; next < len(done) && done[next].done.seq < a.invoked.seq; next++ {
			if highest == nil || done[next].offset > highest.offset {
				highest = &done[next]
			}
		}
		for ; moved < len(rd.facts.starts) && rd.facts.starts[moved].seq < a.invoked.seq; moved++ {
			if s := &rd.facts.starts[moved]; highest == nil || s.offset > highest.offset || s.offset == highest.offset && s.agreed {
				at = endOffset{client: "everybody", done: s.stamp, offset: s.offset, move: s}
				highest = &at
			}
		}
		w.checks++
		if highest != nil && a.offset < highest.offset && !r.full(w.name(), rd.tp) {
			x := told(w.name(), rd, a, highest, "earliest")
			r.settle(f, x.excuse(f.forgave(rd, highest.move, x.Offset, a.done.seq)), circumstances{client: a.client, follower: a.follower,
				changed: !highest.move.binds() && f.ledAnew(rd, highest.done.seq, a.done.seq)}, [2]stamp{highest.done, a.invoked})
		}
	}
}

// moves compares the moves with each other.
func (w *logStartRegression) moves(f *facts, r *Report, rd *reading) {
	for i := 1; i < len(rd.facts.starts); i++ {
		was, is := &rd.facts.starts[i-1], &rd.facts.starts[i]
		w.checks++
		if is.offset >= was.offset || r.full(w.name(), rd.tp) {
			continue
		}
		x := Finding{Rule: w.name(), Verdict: Violation, Seq: is.seq, At: is.at, TP: rd.tp, Offset: is.offset, Last: was.offset - 1,
			Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Witness: []uint64{was.seq, is.seq},
			Text: fmt.Sprintf("%s: the log start moved from %d (event %d) back to %d (event %d)", rd.tp, was.offset, was.seq, is.offset, is.seq)}
		r.settle(f, x.excuse(f.forgave(rd, was, is.offset, is.seq)), circumstances{changed: !was.binds() && f.ledAnew(rd, was.seq, is.seq)}, [2]stamp{was.stamp, is.stamp})
	}
}

// reads looks for records below a start that had moved before their reader
// began. One who began earlier may hold records that were fetched in time.
func (w *logStartRegression) reads(f *facts, r *Report, rd *reading) {
	for i := range rd.polls.len() {
		p := rd.polls.at(i)
		if p.lo == p.hi || p.since == 0 || len(rd.facts.starts) == 0 {
			continue
		}
		w.checks++
		rec := rd.record(p.lo)
		began := stamp{p.since, p.sinceAt}
		s := rd.facts.startAbove(rec.Offset, p.since)
		if s == nil || r.full(w.name(), rd.tp) {
			continue
		}
		x := f.history.sighting(w.name(), rd, p, rec, fmt.Sprintf("the log had begun at %d since event %d", s.offset, s.seq))
		x.Witness = []uint64{s.seq, p.since, p.seq}
		r.settle(f, x.excuse(f.forgave(rd, s, rec.Offset, p.seq)), circumstances{client: p.client, changed: !s.binds() && f.ledAnew(rd, s.seq, p.seq)}, [2]stamp{s.stamp, began})
	}
}

// startAbove is a log start above an offset that was told before an event: the
// last one that all replicas agreed on, else the last one; nil for none.
func (l *logFacts) startAbove(o kafka.Offset, seq uint64) *logStart {
	var found *logStart
	for i := len(l.starts) - 1; i >= 0; i-- {
		if s := &l.starts[i]; s.seq < seq && o < s.offset {
			if s.agreed {
				return s
			}
			found = cmp.Or(found, s)
		}
	}
	return found
}

// binds reports whether whoever leads next has to keep to a log start.
func (s *logStart) binds() bool { return s != nil && s.agreed }

// forgave is the premise that was broken between a move of the log start and an
// event, "" for none: a replica that was down at the move was elected uncleanly, or
// the records that the leader has at an offset are not those that were deleted.
func (f *facts) forgave(rd *reading, s *logStart, o kafka.Offset, before uint64) string {
	p := f.partition(rd.tp)
	if p == nil || s == nil {
		return ""
	}
	for i := range p.elections {
		if l := &p.elections[i]; l.unclean() && l.Seq > s.seq && l.Seq < before && slices.Contains(s.down, l.leader) {
			return uncleanPremise(l)
		}
	}
	return p.excuseBetween(o, s.seq, before)
}
