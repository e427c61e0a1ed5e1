package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// unexplainedGap: between a reader's positions before and after a poll lies a
// record at each offset. Compaction explains a hole; in a history that does not
// show all producers a hole is a note.
type unexplainedGap struct{ tally }

func (*unexplainedGap) name() string { return "unexplained-gap" }

func (g *unexplainedGap) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		if f.profile.compacted(rd.tp.Topic) {
			continue
		}
		var group []Finding
		for i := range rd.polls {
			p := &rd.polls[i]
			g.checks++
			next := p.from
			for _, rec := range rd.records[p.lo:p.hi] {
				group = g.hole(group, rd, p, next, rec.Offset)
				next = rec.Offset + 1
			}
			group = g.hole(group, rd, p, next, p.end)
		}
		if len(group) > 0 && len(f.history.order) == 0 {
			r.Notes = append(r.Notes, Note{g.name(), group[0].Seq, group[0].Text})
			continue
		}
		r.Findings = append(r.Findings, group...)
	}
}

// hole appends the hole [from, to) of a poll, if it is one not yet reported.
func (g *unexplainedGap) hole(xs []Finding, rd *reading, p *poll, from, to kafka.Offset) []Finding {
	if from >= to {
		return xs
	}
	for i := range xs {
		if xs[i].Offset == from && xs[i].Last == to-1 {
			return xs
		}
	}
	return append(xs, Finding{Rule: g.name(), Verdict: Violation, Seq: p.seq, At: p.at, TP: rd.tp, Offset: from, Last: to - 1,
		Count: int(to - from), Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: p.client,
		Text: fmt.Sprintf("%s: %s read from %d to %d (event %d) and was given no %s", rd.tp, p.client, p.from, p.end, p.seq, nth(int64(from), int64(to)-1))})
}
