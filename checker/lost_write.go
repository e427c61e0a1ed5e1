package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// lostWrite: a record that was acknowledged with acks=all is there when its
// offset is read for the last time.
//
//	acknowledged at o ── last poll that covers o ─▶ the record: kept
//	                                              ▶ nothing, or another: lost
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
		sends := byOffset(rd.acked)
		cover := rd.lastCover(sends)
		elsewhere := seenAt(rd)
		var group []Finding
		for i, s := range sends {
			x, lost := l.judge(f, rd, s, cover[i])
			if !lost {
				continue
			}
			if at, ok := elsewhere[s.attempt]; ok && at != s.offset {
				x = misplaced(x, s, at)
			}
			group = appendGrouped(group, x)
		}
		r.Findings = append(r.Findings, group...)
		l.remarks(rd, r)
	}
}

// judge decides one acknowledged send; p is the last poll that covers it.
func (l *lostWrite) judge(f *facts, rd *reading, s *send, p *poll) (Finding, bool) {
	l.due = l.due || s.promised()
	if d := l.drained; d != nil && d.seq > s.done && d.end <= s.offset && (p == nil || p.seq < d.seq) {
		if part := f.partition(rd.tp); part != nil && part.gone(s) {
			return l.missing(f, rd, s, d, fmt.Sprintf("%s read to the end, offset %d, and did not reach it (event %d)", d.client, d.end, d.seq))
		}
	}
	if p == nil || p.seq < s.invoked {
		l.unseen = append(l.unseen, s)
		return Finding{}, false
	}
	rec, ok := rd.at(p, s.offset)
	switch {
	case ok && s.holds(rec):
		if s.promised() {
			l.checks++
		}
		return Finding{}, false
	case ok:
		return l.missing(f, rd, s, p, fmt.Sprintf("%s read another record there (event %d)", p.client, p.seq))
	}
	return l.missing(f, rd, s, p, fmt.Sprintf("%s read past it and found nothing there (event %d)", p.client, p.seq))
}

// missing decides whether a record that is gone was promised.
func (l *lostWrite) missing(f *facts, rd *reading, s *send, p *poll, where string) (Finding, bool) {
	if !s.promised() {
		l.weak = append(l.weak, s)
		return Finding{}, false
	}
	l.checks++
	return l.lost(f, rd, s, p, where), true
}

// gone reports whether the lineage shows that no leader holds the record.
func (p *partition) gone(s *send) bool {
	return p.cutOver(s.offset, s.invoked, s.done) != nil || p.leader != nil && p.leader.log.end <= s.offset
}

// lost tells which event doomed the record, as far as the trace shows it.
func (l *lostWrite) lost(f *facts, rd *reading, s *send, p *poll, where string) Finding {
	x := Finding{Rule: l.name(), Verdict: Violation, Seq: p.seq, At: p.at, TP: rd.tp, Offset: s.offset, Last: s.offset, Count: 1,
		Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: s.client, Attempt: s.attempt,
		Acked: Moment{s.done, s.doneAt, kafka.NoBroker, fmt.Sprintf("%s acknowledged at offset %d with acks=all", s.what(), s.offset)}}
	why := ""
	if part := f.partition(rd.tp); part != nil {
		why = part.doomed(s, &x)
	}
	x.Text = fmt.Sprintf("%s: %s, acknowledged with acks=all at offset %d (event %d), is lost: %s%s", rd.tp, s.what(), s.offset, s.done, why, where)
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
		r.Notes = append(r.Notes, Note{l.name(), s.done, fmt.Sprintf("%s: %s acknowledged with acks=%d %s gone, the first one %s at offset %d: never promised",
			rd.tp, count(n, "record"), s.acks, isAre(n), s.what(), s.offset)})
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

// misplaced turns a loss into a wrong acknowledgement: the record is there, at
// another offset than its producer was told.
func misplaced(x Finding, s *send, at kafka.Offset) Finding {
	x.Rule = "ack-offset-wrong"
	x.Seq, x.At, x.Lost, x.Sealed = s.done, s.doneAt, Moment{}, Moment{}
	x.Text = fmt.Sprintf("%s: %s was acknowledged at offset %d (event %d) and lies at offset %d", x.TP, s.what(), s.offset, s.done, at)
	return x
}

// seenAt maps each attempt to the offset at which it was read last.
func seenAt(rd *reading) map[uint64]kafka.Offset {
	at := map[uint64]kafka.Offset{}
	for _, rec := range rd.records {
		if rec.Attempt != 0 {
			at[rec.Attempt] = rec.Offset
		}
	}
	return at
}

// appendGrouped appends a finding, or counts it with the one before if it is the
// same damage at the next offset.
func appendGrouped(xs []Finding, x Finding) []Finding {
	if n := len(xs); n > 0 {
		last := &xs[n-1]
		if last.Rule == x.Rule && last.Verdict == x.Verdict && last.Premise == x.Premise && last.Last+1 == x.Offset &&
			last.Lost.Seq == x.Lost.Seq && last.Sealed.Seq == x.Sealed.Seq && x.Rule != "ack-offset-wrong" {
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
