package checker

import (
	"cmp"
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// Gaps says what each offset is that readers of a partition passed over. Every
// one is in exactly one class. Where a history keeps no control records they are
// inferred: a transaction that ended in a partition left one marker behind its
// last record there.
type Gaps struct {
	TP          kafka.TopicPartition
	Data        int64 // a record that was there at the last read
	Aborted     int64 // of a transaction that is not known to be committed
	Markers     int64 // control records
	Compacted   int64 // taken out by the cleaner
	BelowStart  int64 // below the log start
	Truncated   int64 // in a lineage that ended
	Lost        int64 // a record is known to belong there and is not there
	Foreign     int64 // taken by producers that the history does not show
	Unexplained int64
}

// unexplainedGap: an offset that readers passed over holds a record, or there is
// a reason why not. A record that is known to belong there and is gone is for
// the other rules.
type unexplainedGap struct{ tally }

func (*unexplainedGap) name() string { return "unexplained-gap" }

func (g *unexplainedGap) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		a := newAccount(f, rd)
		for _, s := range rd.index(&f.history).spans(rd) {
			a.span(s)
		}
		g.checks += rd.polls.len()
		for _, h := range a.holes {
			if !r.full(g.name(), rd.tp) {
				r.settle(f, g.hole(rd, h, a.unplaced), circumstances{})
			}
		}
		if !f.closed() {
			a.gaps.Foreign, a.gaps.Unexplained = a.gaps.Unexplained, 0
		}
		if rd.polls.len() > 0 {
			r.Gaps = append(r.Gaps, a.gaps)
		}
	}
}

func (g *unexplainedGap) hole(rd *reading, h jump, unplaced int) Finding {
	p := rd.poll(h.poll)
	x := Finding{Rule: g.name(), Verdict: Violation, Seq: p.seq, At: p.at, TP: rd.tp, Offset: h.from, Last: h.to - 1,
		Count: int(h.to - h.from), Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: p.client, Witness: []uint64{p.seq},
		Text: fmt.Sprintf("%s: %s read from %d to %d (event %d) and was given no %s", rd.tp, p.client, p.from, p.end, p.seq, nth(int64(h.from), int64(h.to)-1))}
	if unplaced > 0 {
		x.Text += fmt.Sprintf("; %s acknowledged with acks=all at an offset that nobody was told", count(unplaced, "send"))
	}
	return x
}

// account explains offsets one after the other.
type account struct {
	f       *facts
	rd      *reading
	gaps    Gaps
	start   kafka.Offset // the log start as it was told last
	markers []kafka.Offset
	used    int // markers that explain an offset already
	aborted int // records of transactions that are not known to be committed, without a known offset
	holes   []jump
	// unplaced counts sends that were acknowledged without an offset.
	unplaced int
}

func newAccount(f *facts, rd *reading) *account {
	a := &account{f: f, rd: rd, gaps: Gaps{TP: rd.tp}, start: rd.facts.startAt(&f.clocks, stamp{seq: never})}
	if len(f.txns.order) > 0 {
		for _, m := range f.markersOf(rd.tp) {
			a.markers = append(a.markers, m.after)
			for _, s := range m.txn.sends {
				if s.tp == rd.tp && m.txn.outcome != txnCommitted && s.offset == kafka.NoOffset && s.seen == kafka.NoOffset && s.outcome != event.SendFail {
					a.aborted++
				}
			}
		}
		slices.Sort(a.markers)
	}
	return a
}

// span explains [from, to).
func (a *account) span(s span) {
	x := a.rd.log
	next := s.from
	for i := x.find(s.from); i < len(x.places) && x.places[i].offset < s.to; i++ {
		p := &x.places[i]
		if p.end || p.offset < next {
			continue
		}
		a.empty(next, p.offset)
		next = p.offset + 1
		a.known(i)
	}
	a.empty(next, s.to)
}

// known explains an offset at which a record was proven, the first place of
// which is i.
func (a *account) known(i int) {
	x := a.rd.log
	p := &x.places[i]
	for k := i; k < len(x.places) && x.places[k].offset == x.places[i].offset; k++ {
		if q := &x.places[k]; q.last == q.cover && !q.end {
			if q.control != event.DataRecord {
				a.gaps.Markers++
				a.used++
			} else {
				a.gaps.Data++
			}
			return
		}
	}
	part := a.f.partition(a.rd.tp)
	switch last := a.rd.poll(p.cover); {
	case last == nil || p.offset < a.start:
		a.gaps.BelowStart++
	case p.send != nil && a.f.undecided(p.send):
		a.gaps.Aborted++
	case a.f.tookOut(a.rd, p, last):
		a.gaps.Compacted++
	case part != nil && part.excuseBetween(p.offset, p.begun(), last.seq) != "":
		a.gaps.Truncated++
	default:
		a.gaps.Lost++
	}
}

// empty explains [from, to), at which nothing is known to lie.
func (a *account) empty(from, to kafka.Offset) {
	if from >= to {
		return
	}
	if from < a.start {
		below := min(to, a.start)
		a.gaps.BelowStart += int64(below - from)
		from = below
	}
	for from < to && a.used < len(a.markers) && a.markers[a.used] < from {
		a.gaps.Markers++
		a.used++
		from++
	}
	if n := min(int64(to-from), int64(a.aborted)); n > 0 {
		a.gaps.Aborted += n
		a.aborted -= int(n)
		from += kafka.Offset(n)
	}
	for from < to && a.f.cleanedAt(a.rd, from, stamp{seq: never}) {
		end := a.cleanedUpTo(to)
		if end <= from {
			break
		}
		a.gaps.Compacted += int64(end - from)
		from = end
	}
	if from < to {
		a.gaps.Unexplained += int64(to - from)
		a.holes = append(a.holes, a.seenBy(from, to))
	}
}

// cleanedUpTo is where the cleaner has been, at most to.
func (a *account) cleanedUpTo(to kafka.Offset) kafka.Offset {
	if len(a.rd.facts.cleanings) == 0 {
		return to
	}
	most := slices.MaxFunc(a.rd.facts.cleanings, func(x, y cleaning) int { return cmp.Compare(x.end, y.end) })
	return min(to, most.end)
}

// seenBy names a poll that passed over a hole: the first one.
func (a *account) seenBy(from, to kafka.Offset) jump {
	if len(a.holes) < mostFindings {
		for _, j := range a.rd.log.jumps {
			if j.from <= from && from < j.to {
				return jump{j.poll, from, to}
			}
		}
	}
	return jump{0, from, to}
}
