package checker

import (
	"cmp"
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// lostWrite: a record that was acknowledged with acks=all is there when its
// offset is read for the last time.
//
//	acknowledged at o ── last poll that covers o ─▶ the record: kept
//	                                              ▶ nothing, or another: lost
//	                                              ▶ the record, and a later drained read ends
//	                                                below o: unknown
//	                     no poll covers o ────────▶ the drained end lies at or below o, and
//	                                                the lineage shows that it is gone: lost
//	                                              ▶ else unseen: a note, or, after a drained
//	                                                read that should have passed it, unknown
//
// Records with weaker acknowledgements were never promised; their losses are
// notes.
type lostWrite struct {
	tally
	// Of the partition at hand: its last drained read, the sends that no read
	// covers, and the losses of what was not promised.
	drained      *poll
	unseen, weak []*send
}

func (*lostWrite) name() string { return "lost-write" }

func (l *lostWrite) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		l.drained, l.unseen, l.weak = rd.lastDrained(), l.unseen[:0], l.weak[:0]
		x := rd.index(&f.history)
		var group []Finding
		for i := range x.places {
			p := &x.places[i]
			if !p.acked || f.undecided(p.send) {
				continue
			}
			by, where := l.judge(f, rd, p)
			switch {
			case where == present:
			case !f.clocks.certain(l.order(rd, p, by, where)):
				r.settle(f, l.lost(f, rd, p.send, by, where), circumstances{client: p.send.client, acks: -1}, l.order(rd, p, by, where)...)
			case len(group) >= mostFindings:
				r.found(l.name(), rd.tp).Left++
			default:
				group = appendGrouped(group, l.lost(f, rd, p.send, by, where))
			}
		}
		for _, found := range group {
			r.settle(f, found, circumstances{client: found.Client, acks: -1})
		}
		l.weaker(f, rd)
		l.remarks(rd, r)
	}
}

// undecided reports whether a record need not become visible: it belongs to a
// transaction that is not known to be committed.
func (f *facts) undecided(s *send) bool {
	if len(f.txns.order) == 0 {
		return false
	}
	x := f.txnOf(s)
	return x != nil && x.outcome != txnCommitted
}

// whereabouts is what became of a record.
type whereabouts uint8

const (
	present whereabouts = iota // it is there, or nobody came by, or it may be gone
	notReached
	replaced
	nothing
)

// judge decides one acknowledged send by the last poll that covers it, and
// returns the poll that misses it.
func (l *lostWrite) judge(f *facts, rd *reading, p *place) (*poll, whereabouts) {
	l.due = true
	s := p.send
	last := rd.poll(p.cover)
	if l.drained != nil && l.drained.end <= p.offset && l.cutOff(f, rd, s, last) {
		l.checks++
		return l.drained, notReached
	}
	if last == nil || f.clocks.before(last.stamp(), s.called()) {
		if s.offset >= rd.facts.startAt(&f.clocks, f.ended) { // else retention took it before anybody came by
			l.unseen = append(l.unseen, s)
		}
		return nil, present
	}
	l.checks++
	if p.last == p.cover && l.fellShort(f, rd, s, last) {
		l.unseen = append(l.unseen, s)
	}
	if p.last == p.cover || rd.isElsewhere(s) || f.tookOut(rd, p, last) {
		return nil, present
	}
	if rd.log.showsOther(p) {
		return last, replaced
	}
	return last, nothing
}

// order is the pairs of events whose order tells that a record was missed: it was there
// before, and nobody was given it later.
func (*lostWrite) order(rd *reading, p *place, by *poll, where whereabouts) [][2]stamp {
	if where == notReached {
		return [][2]stamp{{p.send.answered(), by.stamp()}}
	}
	if last := rd.poll(p.last); last != nil {
		return [][2]stamp{{last.stamp(), by.stamp()}}
	}
	return nil // whoever passes over its offset comes after it, whatever the clocks say
}

// fellShort reports whether the last read to the end began after a record was
// acknowledged and read, and did not reach it. After a fail-over a high watermark may
// lag for a while; nobody came by later to see that it did no more.
func (l *lostWrite) fellShort(f *facts, rd *reading, s *send, last *poll) bool {
	d := l.drained
	if d == nil || d.end > s.offset || d.isolation == event.ReadCommitted && last.isolation != event.ReadCommitted {
		return false
	}
	if part := f.partition(rd.tp); part != nil && part.excuseBetween(s.offset, s.invoked, d.seq) != "" {
		return false // then it need not be there
	}
	return cmp.Or(d.invoked, d.seq) > max(s.done, last.seq)
}

// cutOff reports whether the last read to the end did not reach a record and no
// leader holds it; last is the last poll over its offset.
func (l *lostWrite) cutOff(f *facts, rd *reading, s *send, last *poll) bool {
	d, part := l.drained, f.partition(rd.tp)
	return d != nil && d.seq > s.done && d.end <= s.offset && (last == nil || last.seq < d.seq) && part != nil && part.gone(s)
}

// tell says where a record was missed.
func (w whereabouts) tell(p *poll) string {
	switch w {
	case notReached:
		return fmt.Sprintf("%s read to the end, offset %d, and did not reach it (event %d)", p.client, p.end, p.seq)
	case replaced:
		return fmt.Sprintf("%s read another record there (event %d)", p.client, p.seq)
	}
	return fmt.Sprintf("%s read past it and found nothing there (event %d)", p.client, p.seq)
}

// isElsewhere reports whether a send was read, and not where its
// acknowledgement says; ack-offset-wrong tells of it.
func (rd *reading) isElsewhere(s *send) bool {
	return s.seen != kafka.NoOffset && s.seen != s.offset && !rd.log.showedAt(s, s.offset)
}

// showedAt reports whether somebody read a send at an offset.
func (x *logIndex) showedAt(s *send, o kafka.Offset) bool {
	for i := x.find(o); i < len(x.places) && x.places[i].offset == o; i++ {
		if p := &x.places[i]; p.send == s && p.first >= 0 {
			return true
		}
	}
	return false
}

// showsOther reports whether the last poll over a place showed another record
// there.
func (x *logIndex) showsOther(p *place) bool {
	for i := x.find(p.offset); i < len(x.places) && x.places[i].offset == p.offset; i++ {
		if q := &x.places[i]; q != p && !q.end && q.last == p.cover {
			return true
		}
	}
	return false
}

// weaker gathers the losses of what was acknowledged by less than acks=all.
func (l *lostWrite) weaker(f *facts, rd *reading) {
	x := rd.log
	for _, s := range rd.weak {
		if rd.isElsewhere(s) || f.undecided(s) {
			continue
		}
		cover, there := x.coverAt(rd, s.offset), false
		for i := x.find(s.offset); i < len(x.places) && x.places[i].offset == s.offset; i++ {
			p := &x.places[i]
			there = there || p.send == s && p.last == p.cover || p.send == nil && p.hash == s.hash && p.last == p.cover
		}
		missed := cover != nil && cover.seq > s.invoked && !there && !f.profile.compacted(rd.tp.Topic)
		if missed || l.cutOff(f, rd, s, cover) {
			l.weak = append(l.weak, s)
		}
	}
}

// gone reports whether the lineage shows that no leader holds the record.
func (p *partition) gone(s *send) bool {
	return p.cutOver(s.offset, s.invoked, s.done) != nil || p.leader != nil && p.leader.log.end <= s.offset
}

// lost tells which event doomed the record, as far as the trace shows it.
func (l *lostWrite) lost(f *facts, rd *reading, s *send, p *poll, where whereabouts) Finding {
	x := Finding{Rule: l.name(), Verdict: Violation, Seq: p.seq, At: p.at, TP: rd.tp, Offset: s.offset, Last: s.offset, Count: 1,
		Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: s.client, Attempt: s.attempt,
		Witness: []uint64{s.done, p.seq},
		Acked:   Moment{s.done, s.doneAt, kafka.NoBroker, fmt.Sprintf("%s acknowledged at offset %d with acks=all", s.what(), s.offset)}}
	why := ""
	if part := f.partition(rd.tp); part != nil {
		why = part.doomed(s, &x)
	}
	x.Ledger = f.ledger(rd, s, p.seq)
	x.Text = fmt.Sprintf("%s: %s, acknowledged with acks=all at offset %d (event %d), is lost: %s%s", rd.tp, s.what(), s.offset, s.done, why, where.tell(p))
	return x
}

// doomed fills the moments of the loss and returns the words for them.
func (p *partition) doomed(s *send, x *Finding) string {
	c := p.cutOver(s.offset, s.invoked, s.done)
	if c == nil {
		*x = x.excuse(p.excuseBetween(s.offset, s.invoked, x.Seq))
		if m := p.firstLoss(s.offset, s.done); m.Seq > 0 {
			x.Lost, x.Seq, x.At, x.Node = m, m.Seq, m.At, m.Node
			return fmt.Sprintf("%s (event %d); ", m.Text, m.Seq)
		}
		return ""
	}
	x.Sealed = c.Moment
	x.Sealed.Text = fmt.Sprintf("broker %d became leader in epoch %d without it", c.Node, c.epoch)
	x.Node, x.Epoch = c.Node, c.epoch
	x.Lost = p.replica(c.Node).doom(s.offset, c.Seq)
	*x = x.excuse(c.premise)
	if x.Lost.Seq == 0 {
		x.Lost = x.Sealed
		x.Lost.Text = fmt.Sprintf("broker %d, which never held it, became leader in epoch %d", c.Node, c.epoch)
		x.Seq, x.At = c.Seq, c.At
		return fmt.Sprintf("%s (event %d); ", x.Lost.Text, c.Seq)
	}
	x.Seq, x.At = x.Lost.Seq, x.Lost.At
	return fmt.Sprintf("%s (event %d) and became leader in epoch %d (event %d); ", x.Lost.Text, x.Lost.Seq, c.epoch, c.Seq)
}

// firstLoss is the first event after another that took offset o from a replica.
func (p *partition) firstLoss(o kafka.Offset, after uint64) Moment {
	var first Moment
	for _, r := range p.replicas {
		for i := range r.losses {
			l := &r.losses[i]
			if l.Seq > after && l.from <= o && o < l.to && (first.Seq == 0 || l.Seq < first.Seq) {
				first = l.Moment
			}
		}
	}
	return first
}

// remarks tells what was not promised and what cannot be decided.
func (l *lostWrite) remarks(rd *reading, r *Report) {
	if n := len(l.weak); n > 0 {
		s := l.weak[0]
		r.Notes = append(r.Notes, Note{l.name(), s.done, fmt.Sprintf("%s: %s acknowledged with acks=%d %s gone, the first one %s at offset %d: %s",
			rd.tp, count(n, "record"), s.acks, isAre(n), s.what(), s.offset, clauseFor(l.name(), &circumstances{acks: s.acks}).why)})
	}
	stuck, late := 0, 0
	var first *send
	for _, s := range l.unseen {
		switch {
		case !s.promised():
		case l.drained != nil && l.drained.seq > s.done:
			if stuck++; stuck == 1 {
				first = s
			}
		default:
			late++
		}
	}
	if stuck > 0 {
		r.Unknown = append(r.Unknown, fmt.Sprintf("unseen: %s: %s acknowledged with acks=all, the first one %s at offset %d, not reached by a read to the end (event %d)",
			rd.tp, count(stuck, "record"), first.what(), first.offset, l.drained.seq))
	}
	if late > 0 {
		r.Notes = append(r.Notes, Note{"unseen", 0, fmt.Sprintf("%s: %s acknowledged with acks=all %s not read before the run ended", rd.tp, count(late, "record"), wasWere(late))})
	}
}

// appendGrouped appends a finding, or counts it with the one before if it is the
// same damage at the next offset.
func appendGrouped(xs []Finding, x Finding) []Finding {
	if n := len(xs); n > 0 {
		last := &xs[n-1]
		if last.Rule == x.Rule && last.Verdict == x.Verdict && last.Premise == x.Premise && last.Last+1 == x.Offset &&
			last.Lost.Seq == x.Lost.Seq && last.Sealed.Seq == x.Sealed.Seq {
			last.Last, last.Count = x.Last, last.Count+1
			last.At, last.Seq = min(last.At, x.At), min(last.Seq, x.Seq)
			return xs
		}
	}
	return append(xs, x)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
