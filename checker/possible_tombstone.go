package checker

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// A tombstone need not be proven to explain that the cleaner took an older record
// of its key. One without an answer, with less than acks=all, of a transaction whose
// end nobody knows, or of a producer that the history does not show, may have been
// in the log and be gone again; then all it left is an offset at which nothing lies:
//
//	offset    0     1     2           0     1     2           0     1     2
//	         k1=a   ?    k2=b   ──▶   ·   k1=null k2=b  ──▶   ·     ·    k2=b
//	                                             after delete.retention.ms
//
// Where no such offset is left, it was never there.

// partitionKey is a key of a partition.
type partitionKey struct {
	tp  kafka.TopicPartition
	key uint64
}

// mayHold lists the tombstones of each key that are not proven and may be in the log.
func (f *facts) mayHold() map[partitionKey][]*send {
	if f.tombstones != nil {
		return f.tombstones
	}
	f.tombstones = map[partitionKey][]*send{}
	for s := range f.history.sends.each() {
		if s.key == 0 || s.hash != 0 || s.outcome == event.SendFail && certaintyOf(s.code) == definite {
			continue
		}
		open := false
		if len(f.txns.order) > 0 {
			x := f.txnOf(s)
			if x != nil && x.outcome == txnAborted {
				continue
			}
			open = x != nil && x.outcome != txnCommitted
		}
		if open || !s.promised() && s.seen == kafka.NoOffset {
			at := partitionKey{s.tp, s.key}
			f.tombstones[at] = append(f.tombstones[at], s)
		}
	}
	return f.tombstones
}

// mayBeDeleted reports whether a tombstone that is not proven may explain that a
// poll was not given the last known record of a key.
func (f *facts) mayBeDeleted(rd *reading, p *place, key uint64, by *poll) bool {
	if rd.hashOf(p) == 0 || !f.profile.compacted(rd.tp.Topic) {
		return false
	}
	above := p.offset + 1
	if p.last >= 0 { // what was passed over while the record was still there is no tombstone of it
		above = max(above, rd.poll(p.last).end)
	}
	for _, s := range f.mayHold()[partitionKey{rd.tp, key}] {
		at := s.seen
		if at == kafka.NoOffset {
			at = s.offset
		}
		if !f.clocks.before(by.stamp(), s.called()) && f.leavesRoom(rd, by, above, at, s.called(), s) {
			return true
		}
	}
	if f.closed() {
		return false
	}
	since := stamp{0, math.MinInt64 / 2}
	if p.send != nil {
		since = p.send.called()
	}
	return f.leavesRoom(rd, by, above, kafka.NoOffset, since, nil)
}

// leavesRoom reports whether a tombstone written at or after a time may have lain at an
// offset, NoOffset for any, that is above others, and be gone when a poll came by.
func (f *facts) leavesRoom(rd *reading, by *poll, above, at kafka.Offset, since stamp, s *send) bool {
	retired := f.clocks.most(since, by.stamp()) >= f.profile.millis(rd.tp.Topic, "delete.retention.ms", defaultDeleteRetention)
	if s != nil && !f.clocks.err() {
		above = max(above, rd.reached(s.invoked))
	}
	end := kafka.Offset(math.MaxInt64)
	if by.drained && !by.follower {
		end = by.end // the cleaner does not go beyond the high watermark
	}
	fits := func(o kafka.Offset) bool {
		return o >= by.end || retired && f.cleanedAt(rd, o, by.stamp())
	}
	if at != kafka.NoOffset {
		return at >= above && at < end && fits(at) && !rd.log.holdsOther(at, s)
	}
	holes := rd.holes()
	for i := sort.Search(len(holes), func(i int) bool { return holes[i].to > above }); i < len(holes); i++ {
		o := max(holes[i].from, above)
		if o >= end {
			return false
		}
		if fits(o) || holes[i].to > by.end && end > by.end {
			return true
		}
	}
	return false
}

// holdsOther reports whether somebody was given another record at an offset, or one
// was acknowledged there.
func (x *logIndex) holdsOther(o kafka.Offset, s *send) bool {
	for i := x.find(o); i < len(x.places) && x.places[i].offset == o; i++ {
		if p := &x.places[i]; !p.end && p.send != s {
			return true
		}
	}
	return false
}

// holes lists the stretches of offsets at which nothing is known to lie.
func (rd *reading) holes() []span {
	x := rd.log
	if x.free != nil {
		return x.free
	}
	next := kafka.Offset(0)
	for i := range x.places {
		p := &x.places[i]
		if p.end || p.offset < next {
			continue
		}
		if p.offset > next {
			x.free = append(x.free, span{from: next, to: p.offset})
		}
		next = p.offset + 1
	}
	x.free = append(x.free, span{from: next, to: math.MaxInt64})
	return x.free
}

// reached is the offset below which the log was known to be full before an event.
func (rd *reading) reached(before uint64) kafka.Offset {
	x := rd.log
	if x.grown == nil {
		for i := range x.places {
			x.grown = append(x.grown, growth{x.places[i].proof, x.places[i].offset + 1})
		}
		slices.SortStableFunc(x.grown, func(a, b growth) int { return cmp.Compare(a.seq, b.seq) })
		for i := 1; i < len(x.grown); i++ {
			x.grown[i].end = max(x.grown[i].end, x.grown[i-1].end)
		}
	}
	i := sort.Search(len(x.grown), func(i int) bool { return x.grown[i].seq >= before })
	if i == 0 {
		return 0
	}
	return x.grown[i-1].end
}

// growth is how far the log was known to reach from an event on.
type growth struct {
	seq uint64
	end kafka.Offset
}
