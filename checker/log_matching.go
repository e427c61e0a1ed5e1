package checker

import (
	"fmt"

	"tidemark/model/event"
)

// logMatching: any two replicas hold the same batches below both their high
// watermarks. Each replica is compared with what leaders committed, once per
// offset, as its high watermark moves; two replicas that differ below both
// cannot both equal it.
type logMatching struct{ tally }

func (*logMatching) name() string { return "LogMatching" }

func (*logMatching) kinds() []event.Kind { return lineageKinds }

func (m *logMatching) observe(f *facts, e *event.Event, r *Report) {
	m.checks += f.compared
	for _, x := range f.mismatches {
		p := f.at
		by := p.committer(x.at)
		r.Findings = append(r.Findings, Finding{
			Rule: m.name(), Verdict: Violation, Seq: e.Seq, At: e.At, TP: p.tp, Offset: x.at, Last: x.at, Count: 1,
			Node: x.replica.node, Epoch: x.replica.role, Lost: Moment{e.Seq, e.At, x.replica.node, ""}, Witness: witnesses(by.Seq, e.Seq),
			Text: fmt.Sprintf("%s: broker %d holds another record at offset %d than broker %d committed in epoch %d, and counts it below its high watermark %d",
				p.tp, x.replica.node, x.at, by.Node, by.epoch, x.replica.hw),
		})
	}
}
