package controller

import (
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// eventsOf tells the trace what one operation changed; they are emitted when
// its records commit. Whether a leader is new is read off the leader epoch.
func eventsOf(before, after *metadata.Image, delta *metadata.Delta, hows []how) []event.Event {
	var events []event.Event
	for _, id := range delta.Brokers {
		events = append(events, brokerEvents(before, after, id)...)
	}
	for _, p := range delta.Partitions {
		if p.Before == nil && p.TP.Partition == 0 {
			topic, _ := after.TopicByID(p.TopicID)
			e := event.New(event.TopicCreated)
			e.Topic, e.Partition = topic.Name, int32(len(topic.Partitions))
			events = append(events, e)
		}
		events = append(events, partitionEvent(p, hows))
	}
	return events
}

// brokerEvents compares a registration before and after, either of which may be
// missing.
func brokerEvents(before, after *metadata.Image, id kafka.BrokerID) []event.Event {
	var kinds []event.Kind
	old, had := before.Broker(id)
	now, has := after.Broker(id)
	served := had && !old.Fenced
	switch {
	case !has:
		return nil
	case !had || old.Epoch != now.Epoch:
		if served {
			kinds = append(kinds, event.Fenced)
		}
		kinds = append(kinds, event.Registered)
	case served && now.Fenced:
		kinds = append(kinds, event.Fenced)
	case old.Fenced && !now.Fenced:
		kinds = append(kinds, event.Unfenced)
	case !old.InControlledShutdown && now.InControlledShutdown:
		kinds = append(kinds, event.ShutdownStarted)
	}
	events := make([]event.Event, 0, len(kinds))
	for _, kind := range kinds {
		e := event.New(kind)
		e.Peer = id
		events = append(events, e)
	}
	return events
}

func partitionEvent(p metadata.PartitionDelta, hows []how) event.Event {
	kind, text := event.ISRChanged, ""
	switch {
	case p.Before == nil:
		kind, text = event.Elected, howCreate
	case p.Before.LeaderEpoch != p.After.LeaderEpoch:
		kind, text = event.Elected, howClean
		for _, h := range hows {
			if h.tp == p.TP {
				text = h.text
			}
		}
	}
	e := event.New(kind)
	e.Topic, e.Partition = p.TP.Topic, p.TP.Partition
	e.Peer, e.Epoch, e.PartitionEpoch = p.After.Leader, p.After.LeaderEpoch, p.After.PartitionEpoch
	e.ISR, e.Text = slices.Clone(p.After.ISR), text
	return e
}

// refused tells the trace at once of an AlterPartition that changes nothing.
func (c *Controller) refused(tp kafka.TopicPartition, sender kafka.BrokerID, want PartitionProposal, code kafka.ErrorCode) {
	e := event.New(event.AlterPartitionRefused)
	e.Topic, e.Partition, e.Peer, e.Code = tp.Topic, tp.Partition, sender, code
	e.Epoch, e.PartitionEpoch = want.LeaderEpoch, want.PartitionEpoch
	c.env.Emit(&e)
}
