package checker

import (
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// leaderCompleteness: every new leader holds every committed record, by content
// and not by length alone.
type leaderCompleteness struct{ tally }

func (*leaderCompleteness) name() string { return "LeaderCompleteness" }

func (*leaderCompleteness) kinds() []event.Kind { return lineageKinds }

func (l *leaderCompleteness) observe(f *facts, e *event.Event, r *Report) {
	if e.Kind == event.BecameLeader && f.before > 0 {
		l.checks++
	}
	if f.cut != nil {
		r.Findings = append(r.Findings, l.incomplete(f.at, f.cut))
	}
	if f.zombie != kafka.NoOffset {
		r.Findings = append(r.Findings, l.committedBehind(f.at, e, f.zombie))
	}
}

func (l *leaderCompleteness) incomplete(p *partition, c *cut) Finding {
	x := Finding{Rule: l.name(), Verdict: Violation, Seq: c.Seq, At: c.At, TP: p.tp, Offset: c.from, Last: c.to - 1,
		Count: int(c.to - c.from), Node: c.Node, Epoch: c.epoch, Lost: c.doom, Sealed: c.Moment, Witness: witnesses(c.by.Seq, c.doom.Seq, c.Seq)}
	what := "without committed"
	if c.logEnd > c.from {
		what = "with other records than the committed"
	}
	x.Text = fmt.Sprintf("%s: broker %d became leader in epoch %d %s %s, which broker %d had committed in epoch %d",
		p.tp, c.Node, c.epoch, what, nth(int64(c.from), int64(c.to)-1), c.by.Node, c.by.epoch)
	if c.doom.Seq > 0 {
		x.Text += ": " + c.doom.Text
	}
	return x.excuse(c.premise)
}

// committedBehind tells of a superseded leader that still moved its high
// watermark, past a record that the present leader does not hold.
func (l *leaderCompleteness) committedBehind(p *partition, e *event.Event, at kafka.Offset) Finding {
	old := p.replica(e.Node)
	x := Finding{Rule: l.name(), Verdict: Violation, Seq: e.Seq, At: e.At, TP: p.tp, Offset: at, Last: e.HighWatermark - 1,
		Count: int(e.HighWatermark - at), Node: e.Node, Epoch: old.leading, Lost: Moment{e.Seq, e.At, e.Node, ""}, Witness: witnesses(e.Seq)}
	x.Text = fmt.Sprintf("%s: broker %d, still leading in epoch %d, committed %s, which broker %d, leader of epoch %d, does not hold",
		p.tp, e.Node, old.leading, nth(int64(at), int64(e.HighWatermark)-1), p.leader.node, p.epoch)
	if l := p.uncleanSince(old.leading, p.epoch); l != nil {
		return x.excuse(uncleanPremise(l))
	}
	return x
}

// excuse turns a violation into an excused finding if a premise was broken.
func (x Finding) excuse(premise string) Finding {
	if premise != "" {
		x.Verdict, x.Premise = Excused, premise
	}
	return x
}

// witnesses puts event numbers in order; 0 is none.
func witnesses(seqs ...uint64) []uint64 {
	slices.Sort(seqs)
	seqs = slices.Compact(seqs)
	if len(seqs) > 0 && seqs[0] == 0 {
		seqs = seqs[1:]
	}
	return seqs
}
