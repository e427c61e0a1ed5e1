package checker

import (
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// logFacts is what takes records out of a partition with permission, and what
// clients were told of its ends.
type logFacts struct {
	starts    []logStart
	cleanings []cleaning
	ends      []endOffset // answers to ListOffsets, in order of arrival
}

// logStart is a move of the log start to offset.
type logStart struct {
	stamp
	offset kafka.Offset
	reason string
	// agreed: somebody was told of it, so every live replica has done it (KIP-107).
	agreed bool
	down   []kafka.BrokerID // brokers that were not there to do it
}

// cleaning is one pass of the cleaner over everything below end.
type cleaning struct {
	stamp
	end kafka.Offset
}

// endOffset is an answer to ListOffsets: latest or earliest.
type endOffset struct {
	client        string
	latest        bool
	isolation     event.Isolation
	invoked, done stamp
	offset        kafka.Offset
	follower      bool
	move          *logStart // of a log start that nobody asked for; else nil
}

// listing is a ListOffsets that is not answered.
type listing struct {
	client  string
	attempt uint64
	tp      kafka.TopicPartition
}

// observeLog takes in what is told of a log as a whole.
func (h *history) observeLog(f *facts, e *event.Event) {
	switch e.Kind {
	case event.LogStartMoved:
		rd := h.reading(e.TP())
		rd.facts.starts = append(rd.facts.starts, logStart{stampOf(e), e.Offset, e.Text, e.Client != "", slices.Clone(f.faults.down)})
	case event.Cleaned:
		rd := h.reading(e.TP())
		rd.facts.cleanings = append(rd.facts.cleanings, cleaning{stampOf(e), e.End})
	case event.ListOffsetsInvoke:
		h.listings[listing{e.Client, e.Attempt, e.TP()}] = stampOf(e)
	case event.ListOffsetsOK, event.ListOffsetsFail:
		key := listing{e.Client, e.Attempt, e.TP()}
		asked, open := h.listings[key]
		if !open {
			return // malformed tells
		}
		delete(h.listings, key)
		if e.Kind == event.ListOffsetsOK {
			rd := h.reading(e.TP())
			rd.facts.ends = append(rd.facts.ends, endOffset{e.Client, e.Text == "latest", e.Isolation, asked, stampOf(e), e.Offset, f.servedByFollower(e), nil})
		}
	}
}

// startAt is the highest log start that was told, or may have been, up to an event.
func (l *logFacts) startAt(c *clocks, by stamp) kafka.Offset {
	start := kafka.Offset(0)
	for i := range l.starts {
		if s := &l.starts[i]; !c.before(by, s.stamp) {
			start = max(start, s.offset)
		}
	}
	for i := range l.ends {
		if e := &l.ends[i]; !e.latest && !c.before(by, e.done) {
			start = max(start, e.offset)
		}
	}
	return start
}

// cleanedAt reports whether the cleaner may have passed over an offset by an
// event: some pass did, or the topic is compacted and the history tells of no
// passes at all.
func (f *facts) cleanedAt(rd *reading, o kafka.Offset, by stamp) bool {
	if !f.profile.compacted(rd.tp.Topic) {
		return false
	}
	for i := range rd.facts.cleanings {
		if c := &rd.facts.cleanings[i]; !f.clocks.before(by, c.stamp) && o < c.end {
			return true
		}
	}
	return len(rd.facts.cleanings) == 0
}

// firstCleaned is the first pass of the cleaner over an offset before an event,
// nil if none is shown.
func (l *logFacts) firstCleaned(o kafka.Offset, seq uint64) *cleaning {
	for i := range l.cleanings {
		if c := &l.cleanings[i]; c.seq < seq && o < c.end {
			return c
		}
	}
	return nil
}

// tookOut reports whether retention or the cleaner may have taken a record
// out before a poll passed over it.
func (f *facts) tookOut(rd *reading, p *place, by *poll) bool {
	if p.offset < rd.facts.startAt(&f.clocks, by.stamp()) {
		return true
	}
	if !f.cleanedAt(rd, p.offset, by.stamp()) {
		return false
	}
	key := rd.key(p)
	if key == 0 {
		return true // the history does not show keys
	}
	newer, tombstone := rd.keyed(f).newer(rd, p, key), rd.hashOf(p) == 0
	return newer != nil || tombstone || f.mayBeDeleted(rd, p, key, by)
}

// key is the key of a record, 0 for none or not known.
func (rd *reading) key(p *place) uint64 {
	switch {
	case p.send != nil && p.send.key != 0:
		return p.send.key
	case p.record >= 0:
		return rd.record(p.record).Key
	}
	return 0
}

// hashOf is the hash of a record's value; 0 is a tombstone.
func (rd *reading) hashOf(p *place) uint64 {
	if p.send != nil {
		return p.send.hash
	}
	return p.hash
}

// servedByFollower reports whether an answer is known to come from a replica
// that does not lead.
func (f *facts) servedByFollower(e *event.Event) bool {
	if e.Peer == kafka.NoBroker {
		return false
	}
	p := f.partition(e.TP())
	return p != nil && len(p.elections) > 0 && p.elections[len(p.elections)-1].leader != e.Peer
}

// keyIndex lists the places of each key by offset. Records that may never
// become visible are not in it.
type keyIndex struct {
	keys []uint64 // in order of the first place
	by   map[uint64][]int32
}

func (rd *reading) keyed(f *facts) *keyIndex {
	if rd.keys != nil {
		return rd.keys
	}
	rd.keys = &keyIndex{by: map[uint64][]int32{}}
	x := rd.index(&f.history)
	for i := range x.places {
		p := &x.places[i]
		key := rd.key(p)
		if key == 0 || !p.data() || p.send != nil && f.undecided(p.send) {
			continue
		}
		if rd.keys.by[key] == nil {
			rd.keys.keys = append(rd.keys.keys, key)
		}
		rd.keys.by[key] = append(rd.keys.by[key], int32(i))
	}
	return rd.keys
}

// newer is the next record of a key above a place, nil for none.
func (k *keyIndex) newer(rd *reading, p *place, key uint64) *place {
	list := k.by[key]
	lo, hi := 0, len(list)
	for lo < hi {
		if mid := (lo + hi) / 2; rd.log.places[list[mid]].offset > p.offset {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == len(list) {
		return nil
	}
	return &rd.log.places[list[lo]]
}
