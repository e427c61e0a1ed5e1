package checker

import (
	"fmt"
	"slices"

	"tidemark/model/kafka"
)

// checkerDisagreement: porcupine and the sweep over the order of a partition
// come to the same verdict on a small history. They share the proofs and
// nothing else, so a difference is a fault of this checker. Where both say no,
// porcupine's longest order becomes part of a finding.
//
// A partition whose log was cut with permission is not one log; it has no say.
type checkerDisagreement struct{ tally }

func (*checkerDisagreement) name() string { return "checker-disagreement" }

func (d *checkerDisagreement) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		if p := f.partition(rd.tp); p != nil && p.cutWithPermission() {
			continue
		}
		o := f.orderOf(rd)
		if n := len(o.places) + rd.polls.len(); n == 0 || n > maxSearched {
			continue
		}
		d.checks++
		l := newLogSearch(o, rd)
		found, says := linearise(logModel, l.ops), o.appendOnly()
		switch {
		case found.fits != says:
			r.Findings = append(r.Findings, d.disagree(rd, says))
		case !says:
			r.explainOrder(rd.tp, found.tell(len(l.ops), l.name))
		}
	}
}

func (d *checkerDisagreement) disagree(rd *reading, says bool) Finding {
	one, other := "porcupine", "the sweep"
	if says {
		one, other = other, one
	}
	return Finding{Rule: d.name(), Verdict: Violation, TP: rd.tp, Offset: kafka.NoOffset, Last: kafka.NoOffset, Node: kafka.NoBroker, Epoch: kafka.NoEpoch,
		Text: fmt.Sprintf("%s: %s takes its history for that of one log and %s does not: the checker is wrong, please report this trace", rd.tp, one, other)}
}

// cutWithPermission reports whether a broken premise allowed the log to lose
// committed records.
func (p *partition) cutWithPermission() bool {
	return slices.ContainsFunc(p.cuts, func(c *cut) bool { return c.premise != "" }) ||
		slices.ContainsFunc(p.elections, func(l election) bool { return l.unclean() })
}

// explainOrder adds porcupine's words to the finding of a partition that is
// nearest to its order.
func (r *Report) explainOrder(tp kafka.TopicPartition, words string) {
	for _, rule := range []string{"real-time-inversion", "read-from-future", "inconsistent-offsets", "lost-write", "LeaderCompleteness"} {
		for i := range r.Findings {
			if x := &r.Findings[i]; x.Rule == rule && x.TP == tp {
				x.Text += "; " + words
				return
			}
		}
	}
}
