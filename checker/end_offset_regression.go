package checker

import (
	"cmp"
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// endOffsetRegression: the end of a partition, as a leader tells it, does not go
// back from one answer to a question that was asked after it (KIP-207).
type endOffsetRegression struct{ tally }

func (*endOffsetRegression) name() string { return "end-offset-regression" }

func (w *endOffsetRegression) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		for _, iso := range []event.Isolation{event.ReadUncommitted, event.ReadCommitted} {
			w.partition(f, r, rd, rd.facts.answers(true, iso))
		}
	}
}

// answers lists the answers of one kind by when they were asked.
func (l *logFacts) answers(latest bool, iso event.Isolation) []endOffset {
	var some []endOffset
	for _, e := range l.ends {
		if e.latest == latest && (!latest || e.isolation == iso) {
			some = append(some, e)
		}
	}
	slices.SortStableFunc(some, func(a, b endOffset) int { return cmp.Compare(a.invoked.seq, b.invoked.seq) })
	return some
}

func (w *endOffsetRegression) partition(f *facts, r *Report, rd *reading, asked []endOffset) {
	done := slices.Clone(asked)
	slices.SortStableFunc(done, func(a, b endOffset) int { return cmp.Compare(a.done.seq, b.done.seq) })
	var highest *endOffset // of those that were told before the question at hand
	next := 0
	for i := range asked {
		a := &asked[i]
		for ; next < len(done) && done[next].done.seq < a.invoked.seq; next++ {
			if highest == nil || done[next].offset > highest.offset {
				highest = &done[next]
			}
		}
		w.checks++
		if highest != nil && a.offset < highest.offset && !r.full(w.name(), rd.tp) {
			x := told(w.name(), rd, a, highest, "latest")
			if p := f.partition(rd.tp); p != nil {
				x = x.excuse(p.excuseBetween(highest.offset-1, 0, a.done.seq))
			}
			r.settle(f, x, circumstances{client: a.client, follower: a.follower}, [2]stamp{highest.done, a.invoked})
		}
	}
}

// told is a finding about two answers that contradict each other.
func told(rule string, rd *reading, a, before *endOffset, what string) Finding {
	return Finding{Rule: rule, Verdict: Violation, Seq: a.done.seq, At: a.done.at, TP: rd.tp, Offset: min(a.offset, before.offset), Last: max(a.offset, before.offset) - 1,
		Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: a.client, Witness: []uint64{before.done.seq, a.invoked.seq, a.done.seq},
		Text: fmt.Sprintf("%s: %s was told that the %s offset is %d (event %d), after %s had been told %d (event %d)",
			rd.tp, a.client, what, a.offset, a.done.seq, before.client, before.offset, before.done.seq)}
}

// ledAnew reports whether an election of the partition lies between two events.
func (f *facts) ledAnew(rd *reading, after, before uint64) bool {
	p := f.partition(rd.tp)
	return p != nil && slices.ContainsFunc(p.elections, func(l election) bool { return l.Seq > after && l.Seq < before && l.how != "create" })
}
