package checker

import (
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// insideFaults are seen only from inside the cluster.
var insideFaults = []fault{
	{name: "give a record to a consumer before it is committed", rule: "read-before-commit", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if len(e.Records) == 0 || !h.inside() {
			return nil
		}
		k := h.committedAt(e.TP(), e.Records[len(e.Records)-1].Offset)
		if k < 0 || k > i || h.find(k, func(x *event.Event) bool { return x.Client == e.Client && x.TP() == e.TP() }) < i {
			return nil
		}
		return movedTo(h.copied(), i, k)
	}},
	{name: "acknowledge before it is committed", rule: "acked-before-commit", plant: func(h *clean, i int) []event.Event {
		if !h.acked(i) || !h.inside() {
			return nil
		}
		k := h.committedAt(h.events[i].TP(), h.events[i].Offset)
		if k < h.invoked(i) {
			return nil
		}
		return movedTo(h.copied(), i, k)
	}},
	{name: "acknowledge with an ISR of one", rule: "under-replicated-ack", plant: func(h *clean, i int) []event.Event {
		e := h.events[i]
		if e.Kind != event.BecameLeader {
			return nil
		}
		shrunk, applied := event.New(event.ISRChanged), event.New(event.ISRApplied)
		shrunk.Node, shrunk.Topic, shrunk.Partition, shrunk.Peer, shrunk.Epoch, shrunk.ISR = 101, e.Topic, e.Partition, e.Node, e.Epoch, []kafka.BrokerID{e.Node}
		applied.Node, applied.Topic, applied.Partition, applied.Epoch, applied.ISR, applied.Text = e.Node, e.Topic, e.Partition, e.Epoch, shrunk.ISR, "metadata"
		return inserted(h.copied(), i+1, shrunk, applied)
	}},
	{name: "two leaders in one epoch", rule: "OneLeaderPerEpoch", plant: func(h *clean, i int) []event.Event {
		e := h.events[i]
		if e.Kind != event.BecameLeader {
			return nil
		}
		e.Node = e.Node%3 + 1
		return inserted(h.copied(), i+1, e)
	}},
	{name: "elect a leader from outside the ISR", rule: "leader-in-isr", plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; e.Kind != event.Elected || e.Peer < 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.Peer = 9 }, i)
	}},
	{name: "alter a partition out of order", rule: "metadata-order", plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; e.Kind != event.ISRChanged && e.Kind != event.Elected || e.PartitionEpoch <= 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.PartitionEpoch-- }, i)
	}},
	{name: "elect in an older epoch, by a controller that tells no partition epoch", rule: "metadata-order", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.Elected || e.Epoch <= 0 || h.find(0, func(x *event.Event) bool { return x.Kind == event.Elected && x.TP() == e.TP() }) == i {
			return nil
		}
		older := h.events[i]
		older.Epoch, older.PartitionEpoch, older.Seq = older.Epoch-1, -1, 0
		return inserted(h.copied(), i+1, older)
	}},
	{name: "alter a partition that changed meanwhile", rule: "alter-partition-register", plant: func(h *clean, i int) []event.Event {
		if h.events[i].Kind != event.ISRProposed {
			return nil
		}
		return h.with(func(e *event.Event) { e.PartitionEpoch-- }, i)
	}},
	{name: "replicate another batch", rule: "LogMatching", plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; e.Kind != event.Appended || e.Text != "follower" {
			return nil
		}
		return h.with(func(e *event.Event) { e.Hash ^= 1 }, i)
	}},
	{name: "start a leader without a committed record", rule: "LeaderCompleteness", plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; e.Kind != event.BecameLeader || e.HighWatermark <= 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.End, e.HighWatermark = e.HighWatermark-1, e.HighWatermark-1 }, i)
	}},
	{name: "take the high watermark back", rule: "HWMonotone", plant: func(h *clean, i int) []event.Event {
		e := h.events[i]
		if e.Kind != event.HighWatermarkMoved || e.Text != "leader" {
			return nil
		}
		e.Offset, e.HighWatermark = e.HighWatermark, e.Offset
		return inserted(h.copied(), i+1, e)
	}},
	{name: "move the high watermark over what the ISR lacks", rule: "high-watermark-rule", plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; e.Kind != event.HighWatermarkMoved || e.Text != "leader" {
			return nil
		}
		return h.with(func(e *event.Event) { e.HighWatermark += 1000 }, i)
	}},
	{name: "acknowledge by a leader that was superseded", rule: "stale-leader-ack", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.BecameLeader || e.Epoch == 0 {
			return nil
		}
		k := h.find(i, h.ackOf(e.TP()))
		if k < 0 {
			return nil
		}
		return movedTo(movedTo(h.copied(), k, i+1), h.invoked(k), i+1)
	}},
	{name: "a segment lacks a record", rule: "audit", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.AuditRecord || i+1 >= len(h.events) || h.events[i+1].Kind != event.AuditRecord || i == 0 || h.events[i-1].Kind != event.AuditRecord {
			return nil
		}
		all := h.copied()
		return append(all[:i:i], all[i+1:]...)
	}},
	{name: "a segment holds another record", rule: "LogMatching", plant: func(h *clean, i int) []event.Event {
		if h.events[i].Kind != event.AuditRecord {
			return nil
		}
		return h.with(func(e *event.Event) { e.Hash ^= 1 }, i)
	}},
	{name: "a node stops on its own invariant", rule: "invariant", plant: func(h *clean, i int) []event.Event {
		if h.events[i].Kind != event.BecameFollower {
			return nil
		}
		stop := event.New(event.Invariant)
		stop.Node, stop.Text = h.events[i].Node, "the log ends below its start"
		return inserted(h.copied(), i+1, stop)
	}},
}

// inside reports whether the history shows what replicas do.
func (h *clean) inside() bool {
	return h.find(0, func(e *event.Event) bool { return e.Kind == event.BecameLeader }) >= 0
}

// committedAt is the first event with which a leader committed an offset.
func (h *clean) committedAt(tp kafka.TopicPartition, o kafka.Offset) int {
	return h.find(0, func(e *event.Event) bool {
		return e.TP() == tp && e.HighWatermark > o && (e.Kind == event.HighWatermarkMoved && e.Text == "leader" || e.Kind == event.BecameLeader)
	})
}

func (h *clean) ackOf(tp kafka.TopicPartition) func(e *event.Event) bool {
	return func(e *event.Event) bool { return e.Kind == event.SendOK && e.TP() == tp }
}
