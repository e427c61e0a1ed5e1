package checker

import (
	"fmt"

	"tidemark/model/event"
)

// highWatermarkRule: a leader moves the high watermark to an offset only when
// every replica in the ISR that it knows has all records below, and only while
// that ISR has min.insync.replicas members.
type highWatermarkRule struct{ tally }

func (*highWatermarkRule) name() string { return "high-watermark-rule" }

func (*highWatermarkRule) kinds() []event.Kind { return []event.Kind{event.HighWatermarkMoved} }

func (w *highWatermarkRule) observe(f *facts, e *event.Event, r *Report) {
	p := f.at
	if e.Text != "leader" || p == nil {
		return
	}
	leader := p.replica(e.Node)
	if leader.idle || len(leader.isr) == 0 || e.HighWatermark <= e.Offset {
		return
	}
	w.checks++
	for _, id := range leader.isr {
		if x := p.replica(id); x.log.end < e.HighWatermark && x.doom(e.HighWatermark-1, e.Seq).Seq == 0 && !r.full(w.name(), p.tp) {
			r.settle(f, w.moved(p, e, fmt.Sprintf("the log of broker %d, which is in the ISR, ends at %d", id, x.log.end)), circumstances{})
			return
		}
	}
	if need := p.needs(f); len(leader.isr) < need && !r.full(w.name(), p.tp) {
		r.settle(f, w.moved(p, e, fmt.Sprintf("the ISR has %s and min.insync.replicas is %d", count(len(leader.isr), "member"), need)), circumstances{short: true})
	}
}

func (w *highWatermarkRule) moved(p *partition, e *event.Event, why string) Finding {
	return Finding{Rule: w.name(), Verdict: Violation, Seq: e.Seq, At: e.At, TP: p.tp, Offset: e.Offset, Last: e.HighWatermark - 1,
		Count: int(e.HighWatermark - e.Offset), Node: e.Node, Epoch: p.replica(e.Node).leading, Witness: []uint64{e.Seq},
		Text: fmt.Sprintf("%s: broker %d moved the high watermark from %d to %d (event %d): %s", p.tp, e.Node, e.Offset, e.HighWatermark, e.Seq, why)}
}
