package checker

import (
	"cmp"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// index returns the partition's index; call it when the history is complete.
func (rd *reading) index(h *history) *logIndex {
	if rd.log == nil {
		h.index()
	}
	return rd.log
}

// index makes the indexes of all partitions that have none. They are made together,
// for sends lie in memory in the order of their calls, whatever their partition.
func (h *history) index() {
	var builders []*indexBuilder
	for _, rd := range h.byTP {
		if rd.log == nil {
			rd.log = &logIndex{}
			rd.builder = &indexBuilder{logIndex: rd.log, rd: rd, proofs: rd.proofs}
			builders = append(builders, rd.builder)
		}
	}
	for _, b := range builders {
		b.walk()
	}
	h.eachAck(func(b *indexBuilder, s *send) { b.mark(s.offset) })
	for _, b := range builders {
		b.lay()
	}
	h.eachAck(func(b *indexBuilder, s *send) { b.acked(s) })
	for _, b := range builders {
		b.polled()
		b.split()
		b.seenAgain()
		b.covers(b.rd)
		b.rd.builder = nil
	}
}

// eachAck goes over the sends that prove a place in a partition whose index is
// being made.
func (h *history) eachAck(do func(b *indexBuilder, s *send)) {
	for s := range h.sends.each() {
		if s.promised() && s.origin.reading.builder != nil {
			do(s.origin.reading.builder, s)
		}
	}
}

// indexBuilder makes an index out of proofs: acknowledgements, records of polls
// and ends of polls. At nearly every offset there is one place, so each offset is
// given one, and the others of an offset stand aside until all are known.
type indexBuilder struct {
	*logIndex
	rd     *reading
	proofs extent
	ends   []pollEnd
	// Where offsets are not dense, all of them.
	offsets []kafka.Offset
	// aside holds further places; next, for each place and then for each of these,
	// is the number of the next one at its offset, from 1; 0 for none.
	aside []place
	next  []int32
}

// pollEnd is a poll whose end lies above its records: the log reached so far.
type pollEnd struct {
	poll int32
	at   kafka.Offset // the offset below the end
}

// sparse is how many offsets there may be to each proof (and dense a constant
// more) before counting them costs more than comparing.
const sparse, dense = 8, 4096

// walk sees what polls passed over, and finds out how offsets are kept.
func (b *indexBuilder) walk() {
	for i := range b.rd.polls.len() {
		b.walkPoll(int32(i), b.rd.polls.at(i))
	}
	if b.proofs.count == 0 {
		return
	}
	if spread := uint64(b.proofs.hi - b.proofs.lo); spread < uint64(sparse*b.proofs.count+dense) {
		b.lo, b.at = b.proofs.lo, make([]int32, spread+1)
	} else {
		b.offsets = make([]kafka.Offset, 0, b.proofs.count)
	}
	for r := range b.rd.records.each() {
		b.mark(r.offset)
	}
	for _, e := range b.ends {
		b.mark(e.at)
	}
}

func (b *indexBuilder) walkPoll(i int32, p *poll) {
	next, jumps, back, epoch := p.from, len(b.jumps), len(b.back), kafka.NoEpoch
	for k := p.lo; k < p.hi; k++ {
		r := b.rd.records.at(int(k))
		switch {
		case r.offset > next:
			b.jumps = append(b.jumps, jump{i, next, r.offset})
		case r.offset < next && k > p.lo:
			b.back = append(b.back, sight{i, k})
		}
		if k > p.lo && r.epoch < epoch && r.epoch != kafka.NoEpoch {
			b.epochsBack = append(b.epochsBack, sight{i, k})
		}
		next, epoch = r.offset+1, r.epoch
	}
	if len(b.back) > back {
		b.jumps = b.jumps[:jumps] // where it passed over what cannot be told
	} else if next < p.end {
		b.jumps = append(b.jumps, jump{i, next, p.end})
		b.ends = append(b.ends, pollEnd{i, p.end - 1})
		b.proofs.take(p.end - 1)
	}
}

// mark notes that there is a proof at an offset.
func (b *indexBuilder) mark(o kafka.Offset) {
	if b.at != nil {
		b.at[o-b.lo] = 1
		return
	}
	b.offsets = append(b.offsets, o)
}

// lay makes a place at every offset with a proof. Offsets count up from the start
// of a log, so they are counted, not compared.
func (b *indexBuilder) lay() {
	if b.at == nil {
		slices.Sort(b.offsets)
		b.offsets = slices.Compact(b.offsets)
		b.places = make([]place, len(b.offsets))
		for i, o := range b.offsets {
			b.places[i].offset = o
		}
		return
	}
	n := int32(0)
	for i, there := range b.at {
		b.at[i], n = n, n+there
	}
	b.places = make([]place, n)
	for i, at := range b.at {
		if i+1 == len(b.at) || b.at[i+1] > at {
			b.places[at].offset = b.lo + kafka.Offset(i)
		}
	}
}

// acked takes the acknowledgement of a send to its place.
func (b *indexBuilder) acked(s *send) {
	b.prove(b.find(s.offset), &place{offset: s.offset, first: -1, last: -1, cover: -1, record: -1, epoch: kafka.NoEpoch,
		attempt: s.attempt, hash: s.hash, send: s, who: s.who, sent: s.invoked, proof: s.done, acked: true})
}

// polled takes what polls saw to its places, in the order of the polls.
func (b *indexBuilder) polled() {
	ends := b.ends
	for i := range b.rd.polls.len() {
		p := b.rd.polls.at(i)
		for k := p.lo; k < p.hi; k++ {
			b.record(int32(i), k, p)
		}
		if len(ends) > 0 && ends[0].poll == int32(i) {
			o := ends[0].at
			ends = ends[1:]
			b.prove(b.find(o), &place{offset: o, first: int32(i), last: int32(i), cover: -1, record: -1, epoch: kafka.NoEpoch, end: true, proof: p.seq})
		}
	}
	slices.SortStableFunc(b.damaged, func(x, y sight) int {
		return cmp.Compare(b.rd.records.at(int(x.record)).offset, b.rd.records.at(int(y.record)).offset)
	})
}

// record takes a record of a poll to its place. Most are known to lie there.
func (b *indexBuilder) record(i, k int32, by *poll) {
	r, h := b.rd.records.at(int(k)), b.rd.history
	at := b.find(r.offset)
	p := &b.places[at]
	if r.ref >= 0 && p.known && !p.end && p.control == event.DataRecord && p.send == h.sends.at(int(r.ref)) && (b.next == nil || b.next[at] == 0) {
		b.compareEpochs(p, r.epoch, sight{i, k})
		p.seenBy(i, k, by.seq, r.epoch)
		return
	}
	rec := b.rd.record(k)
	n := place{offset: rec.Offset, first: i, last: i, cover: -1, record: k, attempt: rec.Attempt, hash: rec.Hash, epoch: rec.Epoch, control: rec.Control, proof: by.seq}
	if n.control == event.DataRecord {
		n.send = h.send(rec.Attempt)
	}
	if s := n.send; s != nil {
		n.who, n.sent, n.astray = s.who, s.invoked, s.tp.Partition != b.rd.tp.Partition && s.tp.Partition >= 0 || s.tp.Topic != b.rd.tp.Topic
		if s.hash != rec.Hash || s.key != 0 && rec.Key != 0 && s.key != rec.Key {
			b.damaged = append(b.damaged, sight{i, k})
			n.hash = s.hash
		}
	}
	b.prove(at, &n)
}

// compareEpochs notes that a record was shown in another epoch than at first.
func (b *indexBuilder) compareEpochs(p *place, epoch kafka.LeaderEpoch, s sight) {
	if epoch != p.epoch && epoch != kafka.NoEpoch && p.epoch != kafka.NoEpoch {
		b.epochs = append(b.epochs, s)
	}
}

// prove adds what one proof says to the places at its offset.
func (b *indexBuilder) prove(at int, n *place) {
	n.known = true
	p := &b.places[at]
	if !p.known {
		*p = *n
		return
	}
	for {
		if n.acked && n.proof < p.proof { // sends come in order of their calls: put them in that of their ends
			*p, *n = *n, *p
		}
		if p.same(n) {
			b.compareEpochs(p, n.epoch, sight{n.first, n.record})
			p.merge(n)
			return
		}
		if b.next == nil {
			b.next = make([]int32, len(b.places))
		}
		next := b.next[at]
		if next == 0 {
			break
		}
		p, at = &b.aside[next-1], len(b.places)+int(next)-1
	}
	b.aside, b.next = append(b.aside, *n), append(b.next, 0)
	b.next[at] = int32(len(b.aside))
}

// split puts the places that stand aside where they belong.
func (b *indexBuilder) split() {
	if len(b.aside) == 0 {
		return
	}
	all, moved := make([]place, 0, len(b.places)+len(b.aside)), make([]int32, len(b.places))
	for i := range b.places {
		group := len(all)
		moved[i] = int32(group)
		all = append(all, b.places[i])
		for k := b.next[i]; k != 0; k = b.next[len(b.places)+int(k)-1] {
			all = append(all, b.aside[k-1])
		}
		slices.SortStableFunc(all[group:], comparePlaces)
	}
	for i, at := range b.at {
		b.at[i] = moved[at]
	}
	b.places = all
}
