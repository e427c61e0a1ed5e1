package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// hwMonotone: the true high watermark, the largest that any leader reached,
// never falls. It falls when a leader starts with a log that ends below it, or
// when a leader takes its own high watermark back.
type hwMonotone struct{ tally }

func (*hwMonotone) name() string { return "HWMonotone" }

func (*hwMonotone) kinds() []event.Kind { return lineageKinds }

func (h *hwMonotone) observe(f *facts, e *event.Event, r *Report) {
	switch {
	case f.cut != nil && f.cut.logEnd < f.cut.to:
		h.checks++
		r.Findings = append(r.Findings, h.fell(f.at, f.cut))
	case e.Kind == event.BecameLeader:
		h.checks++
	case e.Kind == event.HighWatermarkMoved && e.Text == "leader":
		h.checks++
		if e.HighWatermark < e.Offset {
			r.Findings = append(r.Findings, h.tookBack(f.at, e, e.Offset, e.HighWatermark, "moved it back"))
		}
	case e.Kind == event.Truncated && f.at.replica(e.Node).leading != kafka.NoEpoch:
		h.checks++
		if e.End < f.before && e.Node == f.at.leader.node {
			r.Findings = append(r.Findings, h.tookBack(f.at, e, f.before, e.End, "truncated its log below it"))
		}
	}
}

func (h *hwMonotone) fell(p *partition, c *cut) Finding {
	x := Finding{Rule: h.name(), Verdict: Violation, Seq: c.Seq, At: c.At, TP: p.tp, Offset: c.logEnd, Last: c.to - 1,
		Count: int(c.to - c.logEnd), Node: c.Node, Epoch: c.epoch, Lost: c.doom, Sealed: c.Moment, Witness: witnesses(c.by.Seq, c.Seq)}
	x.Text = fmt.Sprintf("%s: the high watermark fell from %d to at most %d: the log of broker %d, leader of epoch %d, ends there",
		p.tp, c.to, c.logEnd, c.Node, c.epoch)
	return x.excuse(c.premise)
}

func (h *hwMonotone) tookBack(p *partition, e *event.Event, from, to kafka.Offset, how string) Finding {
	epoch := p.replica(e.Node).leading
	return Finding{Rule: h.name(), Verdict: Violation, Seq: e.Seq, At: e.At, TP: p.tp, Offset: to, Last: from - 1,
		Count: int(from - to), Node: e.Node, Epoch: epoch, Lost: Moment{e.Seq, e.At, e.Node, ""}, Witness: witnesses(e.Seq),
		Text: fmt.Sprintf("%s: the high watermark fell from %d to %d: broker %d, leader of epoch %d, %s", p.tp, from, to, e.Node, epoch, how)}
}
