package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// kvView: to a reader who reads a compacted topic from its start to its end,
// the last record of each key is the value of that key. What he holds of a key
// then is the last record of it that is known to lie below that end. Who takes
// longer than delete.retention.ms may miss a tombstone, and keeps what it deleted.
type kvView struct{ tally }

func (*kvView) name() string { return "kv-view" }

func (w *kvView) finish(f *facts, r *Report) {
	for _, rd := range f.cleaned() {
		rd.index(&f.history)
		d := rd.lastDrained()
		if d == nil || d.since == 0 || d.chain > rd.facts.startAt(&f.clocks, d.stamp()) {
			continue
		}
		holds := w.viewOf(rd, d)
		keys := rd.keyed(f)
		for _, key := range keys.keys {
			p := w.newest(rd, keys.by[key], d)
			if p == nil {
				continue
			}
			w.checks++
			held, any := holds[key]
			if !any && (rd.hashOf(p) == 0 || p.offset < rd.facts.startAt(&f.clocks, d.stamp())) || any && held == p.offset || r.full(w.name(), rd.tp) {
				continue
			}
			deleted := f.mayBeDeleted(rd, p, key, d)
			if deleted && !any {
				continue
			}
			c := circumstances{client: d.client, tombstone: deleted || rd.hashOf(p) == 0, age: max(0, f.clocks.most(rd.keptFrom(p, d), d.stamp()))}
			r.settle(f, w.differs(f, rd, p, d, held, any).excuse(f.excuse(rd, p, d)), c, f.passedLater(rd, p, d)...)
		}
	}
}

// viewOf is what the reader holds of each key: the offset of the last record.
func (w *kvView) viewOf(rd *reading, d *poll) map[uint64]kafka.Offset {
	holds := map[uint64]kafka.Offset{}
	for i := range rd.polls.len() {
		p := rd.polls.at(i)
		if p.client != d.client || p.since != d.since || p.seq > d.seq {
			continue
		}
		for rec := range rd.shownBy(p) {
			key := rec.Key
			if key == 0 {
				if i := rd.log.find(rec.Offset); i < len(rd.log.places) {
					key = rd.key(&rd.log.places[i])
				}
			}
			holds[key] = rec.Offset
		}
	}
	return holds
}

// newest is the last record of a key that was proven before a read to the end
// and lies below that end.
func (w *kvView) newest(rd *reading, list []int32, d *poll) *place {
	for i := len(list) - 1; i >= 0; i-- {
		if p := &rd.log.places[list[i]]; p.offset < d.end && p.proof <= d.seq {
			return p
		}
	}
	return nil
}

func (w *kvView) differs(f *facts, rd *reading, p *place, d *poll, held kafka.Offset, any bool) Finding {
	x := Finding{Rule: w.name(), Verdict: Violation, Seq: d.seq, At: d.at, TP: rd.tp, Offset: p.offset, Last: p.offset, Count: 1,
		Node: kafka.NoBroker, Epoch: p.epoch, Client: d.client, Attempt: p.attempt, Witness: []uint64{p.proof, d.seq}}
	has := "holds nothing of its key"
	if any {
		has = fmt.Sprintf("holds the record at offset %d", held)
	}
	x.Text = fmt.Sprintf("%s: the last record of a key is %s at offset %d (event %d), and %s, who read to the end (event %d), %s",
		rd.tp, f.history.what(p.attempt), p.offset, p.proof, d.client, d.seq, has)
	return x
}
