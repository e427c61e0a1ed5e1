package checker

import (
	"sort"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// logIndex is what the whole history proves of one partition, by offset. It is
// made once, in near-linear time, and most rules over the log only walk it:
//
//	offset   place                 acknowledged   polls that saw it   last poll over it
//	  5      attempt 7, hash ...   yes            3 to 91             91
//	  6      attempt 9, hash ...   no             3 to 3              91: it is gone
//	  6      attempt 2, hash ...   no             91 to 91            91: offset 6 has two values
//	  8      the end of poll 4     (the log reached so far)           91
type logIndex struct {
	places []place // by offset, then by record; the end of a poll behind the records
	// Where offsets are dense, at[o-lo] is the first place at o or above.
	lo      kafka.Offset
	at      []int32
	damaged []sight // records that differ from what was sent, by offset
	epochs  []sight // records in another epoch than at their first sight
	// What polls show, in their order. epochsBack are records of a lower epoch than the one before in the same poll.
	epochsBack []sight
	jumps      []jump   // offsets that a poll passed over
	back       []sight  // records at or below the one before in the same poll
	repeated   []*send  // sends that were read at a second offset, in order of offset
	covered    []span   // what readers passed over, joined; see spans
	free       []span   // at which nothing is known to lie; see holes
	grown      []growth // how far the log reached, by event; see reached
}

// place is one record at one offset.
type place struct {
	offset        kafka.Offset
	attempt, hash uint64
	// send is nil for a record of a producer that the history does not show,
	// and for the end of a poll, which proves that the log reached so far.
	send  *send
	sent  uint64 // the event before which it was in no log; 0: not known
	proof uint64 // the first event that proves it
	// Polls, by their place in the reading: the first and the last that showed
	// the record, and the last that covers its offset; -1 for none.
	first, last, cover int32
	record             int32             // in the reading, as seen first; -1 if nobody read it
	who                int32             // the client that sent it, by number, if send is not nil
	epoch              kafka.LeaderEpoch // of its batch; NoEpoch if it was never read
	known              bool              // somebody proved it
	end                bool
	acked              bool // acknowledged here, with acks=all
	astray             bool // sent to another partition
	lowest             bool // the lowest at which its send is known to lie: read, else acknowledged
	control            event.Control
}

// sight is one record of one poll, by their places in the reading.
type sight struct{ poll, record int32 }

// jump is [from, to) that a poll covers and shows nothing of.
type jump struct {
	poll     int32
	from, to kafka.Offset
}

// data reports whether the place is a record of an application.
func (p *place) data() bool { return !p.end && p.control == event.DataRecord }

// future reports whether the record was read before it was sent.
func (p *place) future() bool { return p.sent > p.proof }

func (p *place) same(o *place) bool {
	if p.end || o.end || p.control != o.control {
		return p.end == o.end && p.control == o.control
	}
	if p.attempt != 0 && o.attempt != 0 {
		return p.attempt == o.attempt
	}
	return p.hash == o.hash
}

// merge adds what another proof says of the same record at the same offset.
func (p *place) merge(n *place) {
	p.proof = min(p.proof, n.proof)
	if n.first >= 0 {
		if p.first < 0 || n.first < p.first {
			p.first, p.record = n.first, n.record
		}
		p.last = max(p.last, n.last)
	}
	if p.epoch == kafka.NoEpoch {
		p.epoch = n.epoch
	}
	if p.send == nil {
		p.send, p.attempt, p.sent, p.who = n.send, n.attempt, n.sent, n.who
	}
	p.acked = p.acked || n.acked
}

// comparePlaces orders the places at one offset.
func comparePlaces(a, b place) int {
	if a.end != b.end {
		if b.end {
			return -1
		}
		return 1
	}
	switch {
	case a.attempt < b.attempt || a.attempt == b.attempt && a.hash < b.hash:
		return -1
	case a.attempt > b.attempt || a.hash > b.hash:
		return 1
	}
	return 0
}

// find is the first place at offset o or above, len(places) if there is none.
func (x *logIndex) find(o kafka.Offset) int {
	if x.at == nil {
		return sort.Search(len(x.places), func(i int) bool { return x.places[i].offset >= o })
	}
	switch i := int64(o - x.lo); {
	case i <= 0:
		return 0
	case i >= int64(len(x.at)):
		return len(x.places)
	default:
		return int(x.at[i])
	}
}

// covers finds for each place the last poll that covers its offset. Each place
// is assigned once, by the latest poll, whatever the polls overlap.
func (x *logIndex) covers(rd *reading) {
	next := make([]int32, len(x.places)+1) // the first unassigned place at or after i
	for i := range next {
		next[i] = int32(i)
	}
	free := func(i int32) int32 {
		for next[i] != i {
			next[i] = next[next[i]]
			i = next[i]
		}
		return i
	}
	for k := rd.polls.len() - 1; k >= 0; k-- {
		p := rd.polls.at(k)
		for i := free(int32(x.find(p.from))); int(i) < len(x.places) && x.places[i].offset < p.end; i = free(i) {
			x.places[i].cover = int32(k)
			next[i] = i + 1
		}
	}
}

// seenBy merges the proof of a poll that showed the record.
func (p *place) seenBy(poll, record int32, seq uint64, epoch kafka.LeaderEpoch) {
	p.proof = min(p.proof, seq)
	if p.first < 0 || poll < p.first {
		p.first, p.record = poll, record
	}
	p.last = max(p.last, poll)
	if p.epoch == kafka.NoEpoch {
		p.epoch = epoch
	}
}

// seenAgain lists the sends that were read at a second offset and notes for each
// send the lowest at which it was read.
func (x *logIndex) seenAgain() {
	for i := range x.places {
		p := &x.places[i]
		if p.send == nil || p.first < 0 || p.astray {
			p.lowest = p.acked && p.send.seen == kafka.NoOffset
			continue
		}
		if p.send.seen == kafka.NoOffset {
			p.send.seen, p.lowest = p.offset, true
			x.notLowest(p)
		} else if n := len(x.repeated); n == 0 || x.repeated[n-1] != p.send {
			x.repeated = append(x.repeated, p.send)
		}
	}
}

// notLowest takes back what was said of the place at which the send of another one
// was acknowledged: there nobody read it.
func (x *logIndex) notLowest(p *place) {
	o := p.send.offset
	if o == kafka.NoOffset || o >= p.offset {
		return
	}
	for i := sort.Search(len(x.places), func(i int) bool { return x.places[i].offset >= o }); x.places[i].offset == o; i++ {
		if q := &x.places[i]; q.send == p.send {
			q.lowest = false
		}
	}
}

// reader is the client whose poll was the first proof of a place, "" if it was
// an acknowledgement.
func (rd *reading) reader(p *place) string {
	if p.first >= 0 && rd.poll(p.first).seq == p.proof {
		return rd.poll(p.first).client
	}
	return ""
}

// provenAt is when a place was proven first, ns.
func (rd *reading) provenAt(p *place) stamp {
	if p.first >= 0 && rd.poll(p.first).seq == p.proof {
		return stamp{p.proof, rd.poll(p.first).at}
	}
	return stamp{p.send.done, p.send.doneAt}
}
