package checker

import (
	"cmp"
	"slices"

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
	rd     *reading
	places []place
	cuts   []logCut
	// torn is the lowest offset with two records that no cut explains; from
	// there on the log has no order, and inconsistent-offsets says so. The
	// offset after the last one if there is none.
	torn kafka.Offset
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
		rd.order = &order{rd: rd, places: rd.index(&f.history).places, cuts: f.cutsOf(rd.tp)}
		rd.order.tear()
	}
	return rd.order
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
		late := p.epoch >= c.epoch || p.sent > c.seq || p.epoch == kafka.NoEpoch && p.proof > c.seq
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
// places it judged. Where clocks err, a send counts as later only if more than
// both errors lies between; without clocks the order of the history counts.
func (o *order) sweep(c *clocks, found func(late, proven *place)) (checks int) {
	exact := c == nil || !c.err()
	if exact && len(o.cuts) == 0 {
		return o.sweepWhole(found)
	}
	sent := func(p *place) int64 {
		if exact {
			return int64(p.sent)
		}
		return p.send.at - c.at(p.sent)
	}
	proven := func(p *place) int64 {
		if exact {
			return int64(p.proof)
		}
		return o.rd.provenAt(p).at + c.at(p.proof)
	}
	for lineage := 0; lineage <= len(o.cuts); lineage++ {
		var latest, told *place
		for i := range o.places {
			p := &o.places[i]
			if p.offset >= o.torn {
				break
			}
			if p.send != nil && !p.future() && (latest == nil || sent(p) > sent(latest)) && o.lineage(p) == lineage {
				latest = p
			}
			if !o.survives(p, lineage) {
				continue
			}
			checks++
			if latest != nil && latest != told && sent(latest) > proven(p) {
				told = latest
				found(latest, p)
			}
		}
	}
	return checks
}

// sweepWhole is the sweep over a log that was never cut.
func (o *order) sweepWhole(found func(late, proven *place)) (checks int) {
	var latest, told *place
	var sent uint64 // when the latest was
	for i := range o.places {
		p := &o.places[i]
		if p.offset >= o.torn {
			break
		}
		if p.sent > sent && !p.future() {
			latest, sent = p, p.sent
		}
		checks++
		if sent > p.proof && latest != told {
			told = latest
			found(latest, p)
		}
	}
	return checks
}

// appendOnly reports whether one append-only log explains the whole history,
// without any cut.
func (o *order) appendOnly() bool {
	whole := order{rd: o.rd, places: o.places}
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
	whole.sweep(nil, func(_, _ *place) { ok = false })
	return ok
}
