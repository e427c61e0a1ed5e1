package checker

import (
	"slices"
)

// The cleaner (cleanup.policy=compact) keeps of each key the last record, takes
// others out, and changes none:
//
//	offset   0     1     2     5            0     1     2     5
//	        k1=a  k2=b  k1=c  k1=null  ──▶   ·    k2=b   ·   k1=null ──▶  · k2=b · ·
//	                                                  after delete.retention.ms
//
// Each rule here needs the keys of records, or the cleaner's passes, or both.

// cleaned lists the partitions that the cleaner works on.
func (f *facts) cleaned() []*reading {
	return slices.DeleteFunc(f.history.sorted(), func(rd *reading) bool { return !f.profile.compacted(rd.tp.Topic) })
}

// older is the last record of a key below a place that a poll not before
// another event showed; nil for none.
func (k *keyIndex) older(rd *reading, p *place, key, after uint64) *place {
	var found *place
	for _, i := range k.by[key] {
		q := &rd.log.places[i]
		if q.offset >= p.offset {
			break
		}
		if q.send != p.send && q.last >= 0 && q.last == q.cover && rd.poll(q.last).seq > after {
			found = q
		}
	}
	return found
}

// passedLater is the pairs of events whose order tells that a record was taken out
// before a poll passed over it: it was there by then, if the history says so or its
// clocks leave that open, and whoever was given it was so before.
func (f *facts) passedLater(rd *reading, p *place, by *poll) (order [][2]stamp) {
	if at := rd.provenAt(p); at.seq < by.seq || at.seq > by.seq && f.clocks.err() {
		order = append(order, [2]stamp{at, by.stamp()})
	}
	if last := rd.poll(p.last); last != nil && last.seq < by.seq {
		order = append(order, [2]stamp{last.stamp(), by.stamp()})
	}
	return order
}
