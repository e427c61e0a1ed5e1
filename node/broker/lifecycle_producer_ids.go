package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// allocateProducerIDs asks the controller for a block of producer ids for the
// router, on the channel of forwarded requests, as Kafka's RPCProducerIdManager
// does.
func (l *lifecycle) allocateProducerIDs(from node.Lane) {
	r := kmsg.NewPtrAllocateProducerIDsRequest()
	r.Version = allocateVersion
	r.BrokerID, r.BrokerEpoch = int32(l.cfg.ID), int64(l.epoch)
	l.forward.send(r, func(res kmsg.Response) {
		var block allocatedPost
		if answer, ok := res.(*kmsg.AllocateProducerIDsResponse); ok && kafka.ErrorCode(answer.ErrorCode) == kafka.None {
			block = allocatedPost{First: kafka.ProducerID(answer.ProducerIDStart), Count: answer.ProducerIDLen}
		}
		l.env.Post(from, block)
	})
}
