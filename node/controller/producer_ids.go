package controller

import (
	"math"

	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// ProducerIDBlock is how many producer ids a broker gets at a time.
const ProducerIDBlock = 1000

// AllocateProducerIDs gives a broker the next block of producer ids, from first
// on. The record that says so commits before the block is given out, so that no
// id is ever given twice, whoever is controller (KIP-730); an answer that is lost
// costs a block. Codes: NOT_CONTROLLER, STALE_BROKER_EPOCH, and
// UNKNOWN_SERVER_ERROR once there are no ids left.
func (c *Controller) AllocateProducerIDs(id kafka.BrokerID, epoch kafka.BrokerEpoch, reply func(code kafka.ErrorCode, first kafka.ProducerID)) {
	if !c.active {
		reply(kafka.NotController, kafka.NoProducerID)
		return
	}
	if code := c.checkBrokerEpoch(id, epoch); code != kafka.None {
		reply(code, kafka.NoProducerID)
		return
	}
	first := c.image.NextProducerID()
	if first > math.MaxInt64-ProducerIDBlock {
		reply(kafka.UnknownServerError, kafka.NoProducerID)
		return
	}
	var r result
	r.records = append(r.records, metadata.ProducerIDs{BrokerID: id, BrokerEpoch: epoch, NextProducerID: first + ProducerIDBlock})
	c.write(r, func(code kafka.ErrorCode) { reply(code, first) })
}
