package checker

import (
	"cmp"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// order is the append order of one partition as clients can know it.
//
// A partition is a log: the offset order of its records is the order in which
// they were appended, and each was appended at one instant between the call of
// its send and the first proof that it was there:
//
//	offset    send ────────────── proof      the append lies on the line
//	   5      |────────●──|                   ● is a choice: each as early as
//	   6           |───●────|                   the records below it allow
//	   7   |───────────●───────|
//
// Such instants exist for all records if and only if no record was sent after
// one at its offset or above had been proven. Whoever is sent last below an
// offset decides, so one sweep by ascending offset settles it, where a search
// over all orders (Gibbons and Korach, 1997) is exponential.
//
// The proof is an acknowledgement with acks=all or a read. An acknowledgement
// with acks=1 proves no place: a new leader may give the offset away. A send
// whose outcome nobody knows and that nobody read may never have happened; it
// takes no part. How fresh a read is does not matter: Kafka promises that a
// reader sees a prefix, not how long.
type order struct {
	places []place // by offset, then by record, each record at an offset once
	cuts   []logCut
	// torn is the lowest offset with two records that no cut explains; from
	// there on the log has no order, and inconsistent-offsets says so. The
	// offset after the last one if there is none.
	torn kafka.Offset
}

// place is one record at one offset.
type place struct {
	offset        kafka.Offset
	attempt, hash uint64
	// send is nil for a record of a producer that the history does not show,
	// and for the end of a poll, which proves that the log reached so far.
	send  *send
	end   bool
	epoch kafka.LeaderEpoch // of its batch; NoEpoch if it was never read
	// The first proof and, if it was a read, by whom.
	proof  uint64
	at     int64 // ns
	reader string
}

// invoked is the event before which the record was in no log; 0: not known.
func (p *place) invoked() uint64 {
	if p.send == nil {
		return 0
	}
	return p.send.invoked
}

// future reports whether the record was read before it was sent.
func (p *place) future() bool { return p.invoked() > p.proof }

func (p *place) same(o *place) bool {
	if p.attempt != 0 && o.attempt != 0 {
		return p.attempt == o.attempt
	}
	return p.hash == o.hash
}

// logCut is where a lineage of the log ends: a leader of that epoch goes on from
// offset `from` with other records, whoever had proof of the old ones.
type logCut struct {
	seq   uint64
	from  kafka.Offset
	epoch kafka.LeaderEpoch
}

// cutsOf lists the cuts of a partition by event. Where its replicas were watched
// they are exact. After an unclean election a leader that was deposed may go on
// to acknowledge for a while, so such an election cuts at offset 0 too: no place
// of the old lineage says anything of the new one.
func (f *facts) cutsOf(tp kafka.TopicPartition) []logCut {
	p := f.partition(tp)
	if p == nil {
		return nil
	}
	var cuts []logCut
	for _, c := range p.cuts {
		cuts = append(cuts, logCut{c.Seq, c.from, c.epoch})
	}
	for i := range p.elections {
		if l := &p.elections[i]; l.unclean() {
			cuts = append(cuts, logCut{l.Seq, 0, l.epoch})
		}
	}
	slices.SortStableFunc(cuts, func(a, b logCut) int { return cmp.Compare(a.seq, b.seq) })
	return cuts
}

// orderOf gathers what the history proves of one partition; call it when the
// history is complete.
func (f *facts) orderOf(rd *reading) *order {
	if rd.order == nil {
		rd.order = &order{places: rd.places(&f.history), cuts: f.cutsOf(rd.tp)}
		rd.order.tear()
	}
	return rd.order
}

// places are all proofs of a partition, the first of each record at each offset.
func (rd *reading) places(h *history) []place {
	all := make([]place, 0, len(rd.acked)+len(rd.records))
	for _, s := range rd.acked {
		if s.promised() {
			all = append(all, place{offset: s.offset, attempt: s.attempt, hash: s.hash, send: s, epoch: kafka.NoEpoch, proof: s.done, at: s.doneAt})
		}
	}
	for i := range rd.polls {
		p := &rd.polls[i]
		next := p.from
		for _, rec := range rd.records[p.lo:p.hi] {
			all = append(all, h.sighted(p, rec))
			next = rec.Offset + 1
		}
		if next < p.end {
			all = append(all, place{offset: p.end - 1, end: true, epoch: kafka.NoEpoch, proof: p.seq, at: p.at, reader: p.client})
		}
	}
	slices.SortStableFunc(all, comparePlaces)
	return firstProofs(all)
}

// comparePlaces puts the end of a poll behind the records at its offset.
func comparePlaces(a, b place) int {
	if c := cmp.Compare(a.offset, b.offset); c != 0 {
		return c
	}
	if a.end != b.end {
		if b.end {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.attempt, b.attempt), cmp.Compare(a.hash, b.hash), cmp.Compare(a.proof, b.proof))
}

func (h *history) sighted(p *poll, rec event.Record) place {
	return place{offset: rec.Offset, attempt: rec.Attempt, hash: rec.Hash, send: h.sends[rec.Attempt], epoch: rec.Epoch,
		proof: p.seq, at: p.at, reader: p.client}
}

// firstProofs keeps one place of each record at each offset.
func firstProofs(sorted []place) []place {
	kept := sorted[:0]
	for i := range sorted {
		p := &sorted[i]
		last := len(kept) - 1
		if last < 0 || kept[last].offset != p.offset || kept[last].end != p.end || !kept[last].same(p) {
			kept = append(kept, *p)
			continue
		}
		k := &kept[last]
		if p.proof < k.proof {
			k.proof, k.at, k.reader = p.proof, p.at, p.reader
		}
		if k.epoch == kafka.NoEpoch {
			k.epoch = p.epoch
		}
		if k.send == nil {
			k.send, k.attempt = p.send, p.attempt
		}
	}
	return kept
}

// tear finds the lowest offset with two records.
func (o *order) tear() {
	o.torn = kafka.NoOffset
	var held *place // the record at the offset at hand
	for i := range o.places {
		p := &o.places[i]
		switch {
		case p.end:
		case held == nil || held.offset != p.offset:
			held = p
		case !held.same(p) && !slices.ContainsFunc(o.cuts, func(c logCut) bool { return c.from <= p.offset }):
			o.torn = p.offset
			return
		}
	}
	if n := len(o.places); n > 0 {
		o.torn = o.places[n-1].offset + 1
	}
}

// lineage is how many cuts lie before the lineage that a record belongs to. Its
// epoch says so; where that is not known, the record counts as late as possible,
// and so does one that was sent after the cut to a leader from before it.
func (o *order) lineage(p *place) int {
	for n := len(o.cuts); n > 0; n-- {
		c := &o.cuts[n-1]
		late := p.epoch >= c.epoch || p.invoked() > c.seq || p.epoch == kafka.NoEpoch && p.proof > c.seq
		if late && c.from <= p.offset {
			return n
		}
	}
	return 0
}

// survives reports whether a record is known to lie in a lineage or in a later
// one: all later ones hold what the records of this one are compared with.
func (o *order) survives(p *place, lineage int) bool {
	return lineage == 0 || p.epoch >= o.cuts[lineage-1].epoch
}

// sweep calls found for each record that was sent after a record at its offset
// or above had been proven, with the first such place. It returns how many
// places it judged.
func (o *order) sweep(found func(late, proven *place)) (checks int) {
	for lineage := 0; lineage <= len(o.cuts); lineage++ {
		var latest, told *place
		for i := range o.places {
			p := &o.places[i]
			if p.offset >= o.torn {
				break
			}
			if p.send != nil && !p.future() && (latest == nil || p.invoked() > latest.invoked()) && o.lineage(p) == lineage {
				latest = p
			}
			if !o.survives(p, lineage) {
				continue
			}
			checks++
			if latest != nil && latest != told && latest.invoked() > p.proof {
				told = latest
				found(latest, p)
			}
		}
	}
	return checks
}

// appendOnly reports whether one append-only log explains the whole history,
// without any cut.
func (o *order) appendOnly() bool {
	whole := order{places: o.places}
	whole.tear()
	if n := len(o.places); n > 0 && whole.torn <= o.places[n-1].offset {
		return false
	}
	for i := range o.places {
		if o.places[i].future() {
			return false
		}
	}
	ok := true
	whole.sweep(func(_, _ *place) { ok = false })
	return ok
}
