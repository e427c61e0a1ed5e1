package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// metadataOrder: what the controller commits about a partition has one order: the
// partition epoch counts every change, the leader epoch every new leader.
type metadataOrder struct {
	tally
	last map[kafka.TopicPartition]decision
}

// decision is what the controller committed last.
type decision struct {
	seq       uint64
	leader    kafka.BrokerID
	epoch     kafka.LeaderEpoch
	partition kafka.PartitionEpoch
}

func (*metadataOrder) name() string { return "metadata-order" }

func (*metadataOrder) kinds() []event.Kind { return []event.Kind{event.Elected, event.ISRChanged} }

func (w *metadataOrder) observe(f *facts, e *event.Event, r *Report) {
	if w.last == nil {
		w.last = map[kafka.TopicPartition]decision{}
	}
	was, known := w.last[e.TP()]
	w.last[e.TP()] = decision{e.Seq, e.Peer, e.Epoch, e.PartitionEpoch}
	if !known {
		return
	}
	w.checks++
	why := ""
	switch {
	case e.Epoch < was.epoch:
		why = fmt.Sprintf("leader epoch %d after %d", e.Epoch, was.epoch)
	case e.Epoch == was.epoch && e.Peer != was.leader && e.Peer != kafka.NoBroker:
		why = fmt.Sprintf("broker %d and broker %d in one leader epoch, %d", was.leader, e.Peer, e.Epoch)
	case e.PartitionEpoch >= 0 && e.PartitionEpoch <= was.partition:
		why = fmt.Sprintf("partition epoch %d after %d", e.PartitionEpoch, was.partition)
	}
	if why != "" && !r.full(w.name(), e.TP()) {
		r.settle(f, Finding{Rule: w.name(), Verdict: Violation, Seq: e.Seq, At: e.At, TP: e.TP(), Offset: kafka.NoOffset, Last: kafka.NoOffset,
			Node: e.Node, Epoch: e.Epoch, Witness: []uint64{was.seq, e.Seq},
			Text: fmt.Sprintf("%s: the controller's decisions are out of order: %s (events %d and %d)", e.TP(), why, was.seq, e.Seq)}, circumstances{inside: true})
	}
}
