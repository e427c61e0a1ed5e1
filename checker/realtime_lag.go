package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// realtimeLag: how far a poll is behind. It is behind for sure by the time since
// the first acknowledgement of a record that it did not reach; and at most by the
// time since that record was sent.
type realtimeLag struct{ tally }

func (*realtimeLag) name() string { return "realtime-lag" }

func (w *realtimeLag) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		bound := f.profile.millis(rd.tp.Topic, boundLag, 0)
		if bound <= 0 {
			continue
		}
		x := rd.index(&f.history)
		first := x.firstAcked()
		for i := range rd.polls.len() {
			p := rd.polls.at(i)
			w.checks++
			k := x.find(p.end)
			if k == len(x.places) {
				continue
			}
			q := first[k]
			begun, at := p.invoked, p.invokedAt
			if begun == 0 {
				begun, at = p.seq, p.at
			}
			if q == nil || q.send.done > begun || f.clocks.least(q.send.answered(), stamp{begun, at}) <= bound || r.full(w.name(), rd.tp) {
				continue
			}
			s := q.send
			r.settle(f, Finding{Rule: w.name(), Verdict: Violation, Seq: p.seq, At: p.at, TP: rd.tp, Offset: q.offset, Last: q.offset,
				Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: p.client, Attempt: q.attempt, Witness: []uint64{s.done, begun, p.seq},
				Text: fmt.Sprintf("%s: %s read up to %d (event %d), behind by %d to %d ms: %s had been acknowledged at offset %d (event %d); %s is %d",
					rd.tp, p.client, p.end, p.seq, (at-s.doneAt)/1_000_000, (p.at-s.at)/1_000_000, s.what(), q.offset, s.done, boundLag, bound/1_000_000)},
				circumstances{client: p.client}, [2]stamp{{s.done, s.doneAt}, {begun, at}})
		}
	}
}

// firstAcked is, for each place, the record at it or above that was acknowledged
// first; nil where none was.
func (x *logIndex) firstAcked() []*place {
	first := make([]*place, len(x.places))
	var best *place
	for i := len(x.places) - 1; i >= 0; i-- {
		if p := &x.places[i]; p.acked && (best == nil || p.send.done < best.send.done) {
			best = p
		}
		first[i] = best
	}
	return first
}
