package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// activeHeadTouched: the cleaner leaves records alone that are younger than
// min.compaction.lag.ms.
type activeHeadTouched struct{ tally }

func (*activeHeadTouched) name() string { return "active-head-touched" }

func (w *activeHeadTouched) finish(f *facts, r *Report) {
	for _, rd := range f.cleaned() {
		lag := f.profile.millis(rd.tp.Topic, "min.compaction.lag.ms", 0)
		if lag <= 0 {
			continue
		}
		x := rd.index(&f.history)
		for i := range x.places {
			p := &x.places[i]
			by := rd.poll(p.cover)
			if p.send == nil || !p.data() || by == nil || by.seq < p.begun() || f.undecided(p.send) || p.offset < rd.facts.startAt(&f.clocks, by.stamp()) {
				continue
			}
			w.checks++
			age := f.clocks.most(p.send.called(), by.stamp()) // at the most
			if p.last == p.cover || age >= lag || r.full(w.name(), rd.tp) {
				continue
			}
			found := Finding{Rule: w.name(), Verdict: Violation, Seq: by.seq, At: by.at, TP: rd.tp, Offset: p.offset, Last: p.offset, Count: 1,
				Node: kafka.NoBroker, Epoch: p.epoch, Client: rd.whose(p), Attempt: p.attempt, Witness: []uint64{p.send.invoked, p.proof, by.seq},
				Text: fmt.Sprintf("%s: %s at offset %d was taken out when it was %d ms old at the most (event %d); min.compaction.lag.ms is %d",
					rd.tp, p.send.what(), p.offset, age/1_000_000, by.seq, lag/1_000_000)}
			r.settle(f, found.excuse(f.excuse(rd, p, by)), circumstances{client: found.Client}, f.passedLater(rd, p, by)...)
		}
	}
}
