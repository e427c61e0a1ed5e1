package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// newestLost: the last record of a key is there as long as an older one is.
type newestLost struct{ tally }

func (*newestLost) name() string { return "newest-lost" }

func (w *newestLost) finish(f *facts, r *Report) {
	for _, rd := range f.cleaned() {
		keys := rd.keyed(f)
		for _, key := range keys.keys {
			list := keys.by[key]
			p := &rd.log.places[list[len(list)-1]]
			by := rd.poll(p.cover)
			if by == nil || rd.hashOf(p) == 0 || p.offset < rd.facts.startAt(&f.clocks, by.stamp()) {
				continue
			}
			w.checks++
			old := keys.older(rd, p, key, p.proof)
			if p.last == p.cover || old == nil || old.last < p.cover && f.mayBeDeleted(rd, p, key, by) || r.full(w.name(), rd.tp) {
				continue
			}
			x := survived(w.name(), f, rd, p, old, by)
			r.settle(f, x.excuse(f.excuse(rd, p, by)), circumstances{client: x.Client}, append(f.passedLater(rd, p, by), [2]stamp{rd.provenAt(p), rd.poll(old.last).stamp()})...)
		}
	}
}

// survived is a finding about an older record of a key that is there, and the
// newer one is not.
func survived(rule string, f *facts, rd *reading, p, old *place, by *poll) Finding {
	shown := rd.poll(old.last)
	return Finding{Rule: rule, Verdict: Violation, Seq: by.seq, At: by.at, TP: rd.tp, Offset: p.offset, Last: p.offset, Count: 1,
		Node: kafka.NoBroker, Epoch: p.epoch, Client: rd.whose(p), Attempt: p.attempt, Witness: []uint64{p.proof, shown.seq, by.seq},
		Text: fmt.Sprintf("%s: %s passed over %s at offset %d (event %d), the last record of its key, and an older one, %s at offset %d, was still read (event %d)",
			rd.tp, by.client, f.history.what(p.attempt), p.offset, by.seq, f.history.what(old.attempt), old.offset, shown.seq)}
}
