package controller

import (
	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// fence takes a broker out of every ISR, elects where it led, then shuts it
// out. The order is that of the records, so who replays them one by one never
// sees a fenced leader.
func (c *Controller) fence(b *metadata.BrokerImage, r *result) {
	c.updatePartitions(r, withISRMember(b.ID), leaving(b.ID))
	r.records = append(r.records, metadata.BrokerRegistrationChange{BrokerID: b.ID, BrokerEpoch: b.Epoch, Fencing: metadata.Fence})
}

// unfence lets a broker in, then elects where nobody leads and it may. It gets
// into no ISR by this: leaders add it when it has caught up.
func (c *Controller) unfence(b *metadata.BrokerImage, r *result) {
	r.records = append(r.records, metadata.BrokerRegistrationChange{BrokerID: b.ID, BrokerEpoch: b.Epoch, Fencing: metadata.Unfence})
	c.updatePartitions(r, leaderless, returning(b.ID))
}

// startControlledShutdown marks a broker as leaving, then takes it out of every
// ISR and elects others while it still serves (KIP-841, R13).
func (c *Controller) startControlledShutdown(b *metadata.BrokerImage, r *result) {
	if !b.InControlledShutdown {
		r.records = append(r.records, metadata.BrokerRegistrationChange{BrokerID: b.ID, BrokerEpoch: b.Epoch, InControlledShutdown: true})
	}
	c.updatePartitions(r, withISRMember(b.ID), leaving(b.ID))
}

// fenceOneStaleBroker fences the broker that is silent for longest, if its
// session is over. One per event: each sees what the one before has changed
// (KAFKA-13173).
func (c *Controller) fenceOneStaleBroker() (more bool) {
	s, ok := c.alive.takeExpired(c.env.Now())
	if !ok {
		return false
	}
	if b, known := c.image.Broker(s.id); known && b.Epoch == s.epoch && !b.Fenced {
		c.alive.forget(b.ID)
		var r result
		c.fence(b, &r)
		c.write(r, func(kafka.ErrorCode) {})
	}
	return true
}
