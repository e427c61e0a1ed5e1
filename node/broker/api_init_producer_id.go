package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// handleInitProducerID serves InitProducerId, key 22, versions 0 to 5 (from 3 on
// with the producer's present id and epoch, KIP-360): a producer without
// transactional id gets a fresh id in epoch 0. A broker without ids at hand
// answers COORDINATOR_LOAD_IN_PROGRESS, which every client tries again, and asks
// the controller for a block.
//
// This broker coordinates no transactions, so a transactional id gets
// NOT_COORDINATOR, as from a Kafka broker that does not lead the id's partition
// of __transaction_state.
func (r *router) handleInitProducerID(conn node.ConnID, m *node.Message) {
	req := m.Request.(*kmsg.InitProducerIDRequest)
	res := kmsg.NewPtrInitProducerIDResponse()
	id, code := r.initProducerID(req)
	res.ErrorCode, res.ProducerID, res.ProducerEpoch = int16(code), int64(id), -1
	if code == kafka.None {
		res.ProducerEpoch = 0
	}
	r.reply(conn, m, res)
}

func (r *router) initProducerID(req *kmsg.InitProducerIDRequest) (kafka.ProducerID, kafka.ErrorCode) {
	switch {
	case (req.ProducerID < 0) != (req.ProducerEpoch < 0):
		return kafka.NoProducerID, kafka.InvalidRequest
	case req.TransactionalID == nil:
	case *req.TransactionalID == "":
		return kafka.NoProducerID, kafka.InvalidRequest
	default:
		return kafka.NoProducerID, kafka.NotCoordinator
	}
	id, ok, ask := r.ids.take(r.env.Now())
	if ask {
		r.env.Post(node.Lifecycle, allocatePost{})
	}
	if !ok {
		return kafka.NoProducerID, kafka.CoordinatorLoadInProgress
	}
	return id, kafka.None
}
