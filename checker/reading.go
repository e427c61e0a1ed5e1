package checker

import (
	"iter"
	"sort"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// reading is what was acknowledged and read in one partition.
type reading struct {
	tp      kafka.TopicPartition
	history *history
	proofs  extent
	weak    []*send // acknowledged at an offset with less than acks=all, in order
	polls   blocks[poll]
	records blocks[shown] // of all polls, one after the other
	// altered are those of them that no send handed over, or not so.
	altered []event.Record
	log     *logIndex // these two are made when the run is over
	order   *order
	builder *indexBuilder // of log, while it is made
	keys    *keyIndex
	facts   logFacts
}

// shown is a record as a poll showed it. Nearly all are what a send handed over:
// then its number tells the rest; else ref is the complement of the place in
// altered.
type shown struct {
	offset kafka.Offset
	epoch  kafka.LeaderEpoch
	ref    int32
}

// poll covers [from, end): no record there was hidden from its reader.
type poll struct {
	client    string
	seq       uint64
	at        int64
	from, end kafka.Offset
	lo, hi    int32  // its records in the reading
	invoked   uint64 // 0 for not known
	invokedAt int64  // ns
	// since is the event with which its reader's unbroken chain of polls began,
	// at chain; 0 for not known.
	since   uint64
	sinceAt int64 // ns
	chain   kafka.Offset
	lso, hw kafka.Offset   // as the answer told, NoOffset for not known
	session *event.Session // nil for none
	// follower: it was served by a replica that does not lead, whose end says
	// nothing of the partition's.
	follower  bool
	drained   bool
	isolation event.Isolation
}

// extent is where proofs of records lie.
type extent struct {
	lo, hi kafka.Offset // both inclusive
	count  int
}

// take adds a proof.
func (x *extent) take(o kafka.Offset) {
	if x.count == 0 {
		x.lo, x.hi = o, o
	}
	x.lo, x.hi = min(x.lo, o), max(x.hi, o)
	x.count++
}

// acked takes in that a send was acknowledged at an offset. Less than acks=all
// proves no place.
func (rd *reading) acked(s *send) {
	if s.acks != -1 {
		rd.weak = append(rd.weak, s)
		return
	}
	rd.proofs.take(s.offset)
}

// show keeps the records of a poll, and returns where.
func (rd *reading) show(records []event.Record) (lo, hi int32) {
	lo = int32(rd.records.len())
	for i := range records {
		rec := &records[i]
		rd.proofs.take(rec.Offset)
		*rd.records.add() = shown{rec.Offset, rec.Epoch, rd.reference(rec)}
	}
	return lo, int32(rd.records.len())
}

// reference is the number of the send that handed a record over as it is shown, or
// where the record is kept instead.
func (rd *reading) reference(rec *event.Record) int32 {
	h := rd.history
	if n := h.attempts.get(rec.Attempt); n != nil && n.hash == rec.Hash && rec.Attempt != 0 && rec.Control == event.DataRecord {
		i := n.number - 1
		if h.keyed == 0 && rec.Key == 0 || h.sends.at(int(i)).key == rec.Key {
			return i
		}
	}
	rd.altered = append(rd.altered, *rec)
	return ^int32(len(rd.altered) - 1)
}

// record is a record as it was shown, by its place in the reading.
func (rd *reading) record(i int32) event.Record {
	r := rd.records.at(int(i))
	if r.ref < 0 {
		return rd.altered[^r.ref]
	}
	s := rd.history.sends.at(int(r.ref))
	return event.Record{Offset: r.offset, Epoch: r.epoch, Attempt: s.attempt, Hash: s.hash, Key: s.key}
}

// sendOf is the send of the attempt that a record names, nil for none.
func (rd *reading) sendOf(i int32) *send {
	if r := rd.records.at(int(i)); r.ref >= 0 {
		return rd.history.sends.at(int(r.ref))
	} else {
		return rd.history.send(rd.altered[^r.ref].Attempt)
	}
}

// shownBy goes over the records of a poll.
func (rd *reading) shownBy(p *poll) iter.Seq[event.Record] {
	return func(yield func(event.Record) bool) {
		for i := p.lo; i < p.hi; i++ {
			if !yield(rd.record(i)) {
				return
			}
		}
	}
}

// poll is the poll at a place in the reading, nil for -1.
func (rd *reading) poll(i int32) *poll {
	if i < 0 {
		return nil
	}
	return rd.polls.at(int(i))
}

// at returns what a poll showed at an offset.
func (rd *reading) at(p *poll, o kafka.Offset) (event.Record, bool) {
	i := p.lo + int32(sort.Search(int(p.hi-p.lo), func(i int) bool { return rd.records.at(int(p.lo)+i).offset >= o }))
	if i < p.hi && rd.records.at(int(i)).offset == o {
		return rd.record(i), true
	}
	return event.Record{}, false
}

// lastDrained is the last poll that reached the end of the partition as its
// leader knew it, nil for none.
func (rd *reading) lastDrained() *poll {
	for i := rd.polls.len() - 1; i >= 0; i-- {
		if p := rd.polls.at(i); p.drained && !p.follower {
			return p
		}
	}
	return nil
}
