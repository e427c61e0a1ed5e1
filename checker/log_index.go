package checker

import (
	"slices"
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
	lo kafka.Offset
	at []int32
	// What was seen while it was made, in order of the polls.
	damaged []sight // records that differ from what was sent
	// epochsBack are records of a lower epoch than the one before in the same poll.
	epochsBack []sight
	jumps      []jump  // offsets that a poll passed over
	back       []sight // records at or below the one before in the same poll
	repeated   []*send // sends that were read at a second offset, in order of offset
	covered    []span  // what readers passed over, joined; see spans
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

// entry is one proof of a place: an acknowledgement (poll -1), a record of a
// poll, or the end of a poll (ref -1).
type entry struct {
	offset    kafka.Offset
	ref, poll int32
}

// index returns the partition's index; call it when the history is complete.
func (rd *reading) index(h *history) *logIndex {
	if rd.log == nil {
		rd.log = &logIndex{}
		rd.log.place(rd, h, rd.log.entries(rd, h))
		rd.log.covers(rd)
	}
	return rd.log
}

// entries lists all proofs by offset, those of one offset in order of arrival.
func (x *logIndex) entries(rd *reading, h *history) []entry {
	all := make([]entry, 0, len(rd.acked)+len(rd.records)+len(rd.polls)/8)
	for i, at := range rd.places {
		if at != kafka.NoOffset {
			all = append(all, entry{at, int32(i), -1})
		}
	}
	for i := range rd.polls {
		p := &rd.polls[i]
		next, jumps, back := p.from, len(x.jumps), len(x.back)
		for k := p.lo; k < p.hi; k++ {
			rec := &rd.records[k]
			switch {
			case rec.Offset > next:
				x.jumps = append(x.jumps, jump{int32(i), next, rec.Offset})
			case rec.Offset < next && k > p.lo:
				x.back = append(x.back, sight{int32(i), int32(k)})
			}
			if k > p.lo && rec.Epoch < rd.records[k-1].Epoch && rec.Epoch != kafka.NoEpoch {
				x.epochsBack = append(x.epochsBack, sight{int32(i), int32(k)})
			}
			next = rec.Offset + 1
			all = append(all, entry{rec.Offset, int32(k), int32(i)})
		}
		if len(x.back) > back {
			x.jumps = x.jumps[:jumps] // where it passed over what cannot be told
		} else if next < p.end {
			x.jumps = append(x.jumps, jump{int32(i), next, p.end})
			all = append(all, entry{p.end - 1, -1, int32(i)})
		}
	}
	return x.sorted(all)
}

// sparse is how many offsets there may be to each proof (and dense a constant
// more) before counting them costs more than comparing.
const sparse, dense = 8, 4096

// sorted sorts by offset and leaves proofs of one offset as they are. Offsets
// count up from the start of a log, so they are counted, not compared.
func (x *logIndex) sorted(all []entry) []entry {
	if len(all) == 0 {
		return all
	}
	lo, hi := all[0].offset, all[0].offset
	for i := range all {
		lo, hi = min(lo, all[i].offset), max(hi, all[i].offset)
	}
	x.lo = lo
	if int64(hi-lo) >= int64(sparse*len(all)+dense) {
		slices.SortStableFunc(all, func(a, b entry) int {
			switch {
			case a.offset < b.offset:
				return -1
			case a.offset > b.offset:
				return 1
			}
			return 0
		})
		return all
	}
	x.at = make([]int32, hi-lo+2)
	for i := range all {
		x.at[all[i].offset-lo+1]++
	}
	for i := 1; i < len(x.at); i++ {
		x.at[i] += x.at[i-1]
	}
	by := make([]entry, len(all))
	for i := range all {
		n := &x.at[all[i].offset-lo]
		by[*n] = all[i]
		*n++
	}
	return by
}

// place turns proofs into places.
func (x *logIndex) place(rd *reading, h *history, by []entry) {
	distinct := 0
	for i := range by {
		if i == 0 || by[i].offset != by[i-1].offset {
			distinct++
		}
	}
	x.places = make([]place, 0, distinct+distinct/16+8)
	for i := 0; i < len(by); {
		group := len(x.places)
		o := by[i].offset
		for ; i < len(by) && by[i].offset == o; i++ {
			x.prove(rd, h, group, by[i])
		}
		if len(x.places) > group+1 {
			slices.SortStableFunc(x.places[group:], comparePlaces)
		}
		x.seenAgain(x.places[group:])
		if x.at != nil {
			x.at[o-x.lo] = int32(group)
		}
	}
	for k, next := len(x.at)-1, int32(len(x.places)); k >= 0; k-- {
		o := x.lo + kafka.Offset(k)
		if i := x.at[k]; int(i) < len(x.places) && x.places[i].offset == o {
			next = i
		} else {
			x.at[k] = next
		}
	}
}

// prove adds one proof to the places at its offset, which begin at group. Most are
// of polls that saw what is known to lie there.
func (x *logIndex) prove(rd *reading, h *history, group int, e entry) {
	if e.ref >= 0 && e.poll >= 0 && len(x.places) == group+1 {
		if p, rec := &x.places[group], &rd.records[e.ref]; p.shows(rec) {
			p.seenBy(e, rd.polls[e.poll].seq, rec.Epoch)
			return
		}
	}
	n := place{offset: e.offset, first: e.poll, last: e.poll, cover: -1, record: -1, epoch: kafka.NoEpoch}
	switch {
	case e.poll < 0:
		s := rd.acked[e.ref]
		n.attempt, n.hash, n.send, n.who, n.sent, n.proof, n.acked = s.attempt, s.hash, s, s.who, s.invoked, s.done, true
	case e.ref < 0:
		n.end, n.proof = true, rd.polls[e.poll].seq
	default:
		rec := &rd.records[e.ref]
		n.attempt, n.hash, n.epoch, n.control, n.record, n.proof = rec.Attempt, rec.Hash, rec.Epoch, rec.Control, e.ref, rd.polls[e.poll].seq
		if n.control == event.DataRecord {
			n.send = h.send(rec.Attempt)
		}
		if s := n.send; s != nil {
			n.who, n.sent, n.astray = s.who, s.invoked, s.tp.Partition != rd.tp.Partition && s.tp.Partition >= 0 || s.tp.Topic != rd.tp.Topic
		}
		if s := n.send; s != nil && (s.hash != rec.Hash || s.key != 0 && rec.Key != 0 && s.key != rec.Key) {
			x.damaged = append(x.damaged, sight{e.poll, e.ref})
			n.hash = s.hash
		}
	}
	for i := group; i < len(x.places); i++ {
		if p := &x.places[i]; p.same(&n) {
			p.merge(&n)
			return
		}
	}
	x.places = append(x.places, n)
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
	for k := len(rd.polls) - 1; k >= 0; k-- {
		p := &rd.polls[k]
		for i := free(int32(x.find(p.from))); int(i) < len(x.places) && x.places[i].offset < p.end; i = free(i) {
			x.places[i].cover = int32(k)
			next[i] = i + 1
		}
	}
}

// shows reports whether a record is beyond doubt the one at a place, as it was sent.
func (p *place) shows(rec *event.Record) bool {
	return p.attempt == rec.Attempt && rec.Attempt != 0 && p.hash == rec.Hash && p.control == event.DataRecord && rec.Control == event.DataRecord &&
		!p.end && p.send != nil && (rec.Key == 0 || p.send.key == 0 || p.send.key == rec.Key)
}

// seenBy merges the proof of a poll that showed the record.
func (p *place) seenBy(e entry, seq uint64, epoch kafka.LeaderEpoch) {
	p.proof = min(p.proof, seq)
	if p.first < 0 || e.poll < p.first {
		p.first, p.record = e.poll, e.ref
	}
	p.last = max(p.last, e.poll)
	if p.epoch == kafka.NoEpoch {
		p.epoch = epoch
	}
}

// seenAgain goes over the places at the next offset: it lists the sends that were
// read at a second one and notes for each send the lowest at which it was read.
func (x *logIndex) seenAgain(places []place) {
	for i := range places {
		p := &places[i]
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
	if p.first >= 0 && rd.polls[p.first].seq == p.proof {
		return rd.polls[p.first].client
	}
	return ""
}

// provenAt is when a place was proven first, ns.
func (rd *reading) provenAt(p *place) stamp {
	if p.first >= 0 && rd.polls[p.first].seq == p.proof {
		return stamp{p.proof, rd.polls[p.first].at}
	}
	return stamp{p.send.done, p.send.doneAt}
}

// poll is the poll at a place in the reading, nil for -1.
func (rd *reading) poll(i int32) *poll {
	if i < 0 {
		return nil
	}
	return &rd.polls[i]
}
