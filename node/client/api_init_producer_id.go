package client

import (
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
)

// InitProducerID, versions 0 to 5, without transactional id, asks any broker for
// a fresh producer id and its first epoch. done gets them, or a code; with
// NETWORK_EXCEPTION no broker may be there to ask.
func (c *Client) InitProducerID(done func(id kafka.ProducerID, epoch kafka.ProducerEpoch, code kafka.ErrorCode)) {
	to, ok := c.leastLoaded()
	if !ok {
		done(kafka.NoProducerID, -1, kafka.NetworkException)
		return
	}
	req := kmsg.NewPtrInitProducerIDRequest()
	// Nothing to time out, but the field is there; Kafka's producer says the same.
	req.TransactionTimeoutMillis = math.MaxInt32
	req.ProducerID, req.ProducerEpoch = int64(kafka.NoProducerID), -1
	c.send(to, call{Request: req, Done: func(r kmsg.Response, code kafka.ErrorCode) {
		id, epoch := kafka.NoProducerID, kafka.ProducerEpoch(-1)
		if code == kafka.None {
			answer := r.(*kmsg.InitProducerIDResponse)
			id, epoch, code = kafka.ProducerID(answer.ProducerID), kafka.ProducerEpoch(answer.ProducerEpoch), kafka.ErrorCode(answer.ErrorCode)
		}
		done(id, epoch, code)
	}})
}
