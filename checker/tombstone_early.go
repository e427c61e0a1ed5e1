package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// tombstoneEarly: whoever reads an older record of a key, or comes by within
// delete.retention.ms, sees the tombstone that deleted it. The time counts from
// the first pass of the cleaner over it (KIP-534); where the history shows no
// passes, from when it was written.
type tombstoneEarly struct{ tally }

func (*tombstoneEarly) name() string { return "tombstone-early" }

func (w *tombstoneEarly) finish(f *facts, r *Report) {
	for _, rd := range f.cleaned() {
		keys := rd.keyed(f)
		for _, key := range keys.keys {
			list := keys.by[key]
			p := &rd.log.places[list[len(list)-1]]
			by := rd.poll(p.cover)
			if rd.hashOf(p) != 0 || by == nil || by.seq < p.begun() || p.offset < rd.facts.startAt(&f.clocks, by.stamp()) {
				continue
			}
			w.checks++
			if p.last != p.cover && !r.full(w.name(), rd.tp) {
				w.missing(f, r, rd, p, by, keys.older(rd, p, key, p.proof))
			}
		}
	}
}

// missing judges a tombstone that a poll was not given; old is an older record
// of its key that was read after the tombstone was there, nil for none.
func (w *tombstoneEarly) missing(f *facts, r *Report, rd *reading, p *place, by *poll, old *place) {
	since := rd.keptFrom(p, by)
	c := circumstances{topic: rd.tp.Topic, profile: &f.profile, client: by.client, age: max(0, f.clocks.most(since, by.stamp()))}
	if old != nil {
		x := survived(w.name(), f, rd, p, old, by)
		c.age = min(c.age, max(0, f.clocks.most(rd.poll(old.last).stamp(), by.stamp())))
		x.Text += "; its key is back from the dead"
		r.settle(f, x.excuse(f.excuse(rd, p, by)), c, f.passedLater(rd, p, by)...)
		return
	}
	if !withinDeleteRetention(&c) {
		return
	}
	x := Finding{Rule: w.name(), Verdict: Violation, Seq: by.seq, At: by.at, TP: rd.tp, Offset: p.offset, Last: p.offset, Count: 1,
		Node: kafka.NoBroker, Epoch: p.epoch, Client: rd.whose(p), Attempt: p.attempt, Witness: []uint64{p.proof, since.seq, by.seq}}
	passed := ""
	if since.seq != p.proof {
		passed = fmt.Sprintf(", which the cleaner passed over first at event %d,", since.seq)
	}
	x.Text = fmt.Sprintf("%s: the tombstone at offset %d (event %d)%s was taken out %d ms later at the most: %s was not given it (event %d)",
		rd.tp, p.offset, p.proof, passed, c.age/1_000_000, by.client, by.seq)
	r.settle(f, x.excuse(f.excuse(rd, p, by)), c, f.passedLater(rd, p, by)...)
}

// keptFrom is when the time began for which a tombstone is kept, as seen by a
// poll: the first pass over it, or its proof where no pass is shown.
func (rd *reading) keptFrom(p *place, by *poll) stamp {
	from := rd.provenAt(p)
	if c := rd.facts.firstCleaned(p.offset, by.seq); c != nil && c.at > from.at {
		return c.stamp
	}
	return from
}
