package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/controller"
)

// handleAllocateProducerIDs answers AllocateProducerIds, key 67, version 0: a
// broker gets the next block of producer ids (KIP-730), once the record of it is
// committed.
func (l *quorumLane) handleAllocateProducerIDs(m *node.Message, answer answerFunc) {
	req := m.Request.(*kmsg.AllocateProducerIDsRequest)
	l.controller.AllocateProducerIDs(kafka.BrokerID(req.BrokerID), kafka.BrokerEpoch(req.BrokerEpoch), func(code kafka.ErrorCode, first kafka.ProducerID) {
		res := kmsg.NewPtrAllocateProducerIDsResponse()
		res.ErrorCode = int16(code)
		if code == kafka.None {
			res.ProducerIDStart, res.ProducerIDLen = int64(first), controller.ProducerIDBlock
		}
		answer(res, code)
	})
}
