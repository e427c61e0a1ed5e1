package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// oneLeaderPerEpoch: no two brokers lead a partition in one epoch.
type oneLeaderPerEpoch struct {
	tally
	leaders map[leadership]Moment
}

type leadership struct {
	tp    kafka.TopicPartition
	epoch kafka.LeaderEpoch
}

func (*oneLeaderPerEpoch) name() string { return "OneLeaderPerEpoch" }

func (*oneLeaderPerEpoch) kinds() []event.Kind { return []event.Kind{event.BecameLeader} }

func (o *oneLeaderPerEpoch) observe(f *facts, e *event.Event, r *Report) {
	o.checks++
	if o.leaders == nil {
		o.leaders = map[leadership]Moment{}
	}
	at := leadership{e.TP(), e.Epoch}
	first, taken := o.leaders[at]
	if !taken {
		o.leaders[at] = Moment{Seq: e.Seq, At: e.At, Node: e.Node}
	} else if first.Node != e.Node {
		r.Findings = append(r.Findings, Finding{Rule: o.name(), Verdict: Violation, Seq: e.Seq, At: e.At, TP: at.tp,
			Offset: kafka.NoOffset, Last: kafka.NoOffset, Node: e.Node, Epoch: e.Epoch, Witness: witnesses(first.Seq, e.Seq),
			Text: fmt.Sprintf("%s: brokers %d and %d both lead in epoch %d", at.tp, first.Node, e.Node, e.Epoch)})
	}
}
