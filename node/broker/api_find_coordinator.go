package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// The kinds of coordinator that a key may ask for.
const (
	groupCoordinator       = 0
	transactionCoordinator = 1
	shareCoordinator       = 2 // KIP-932
)

// findCoordinatorBatched is the first version with many keys (KIP-699).
const findCoordinatorBatched = 4

// handleFindCoordinator serves FindCoordinator, key 10, versions 0 to 6: one key,
// from version 4 on many. Coordinators live on the partitions of internal topics,
// of which there are none here: as in a Kafka that could not create them yet, no
// coordinator is available, and clients ask again.
func (r *router) handleFindCoordinator(conn node.ConnID, m *node.Message) {
	req := m.Request.(*kmsg.FindCoordinatorRequest)
	res := kmsg.NewPtrFindCoordinatorResponse()
	code := coordinatorCode(req.CoordinatorType)
	if m.Version() < findCoordinatorBatched {
		res.ErrorCode, res.NodeID, res.Port = int16(code), int32(kafka.NoBroker), -1
		r.reply(conn, m, res)
		return
	}
	for _, key := range req.CoordinatorKeys {
		c := kmsg.NewFindCoordinatorResponseCoordinator()
		c.Key, c.ErrorCode, c.NodeID, c.Port = key, int16(code), int32(kafka.NoBroker), -1
		res.Coordinators = append(res.Coordinators, c)
	}
	r.reply(conn, m, res)
}

func coordinatorCode(kind int8) kafka.ErrorCode {
	switch kind {
	case groupCoordinator, transactionCoordinator, shareCoordinator:
		return kafka.CoordinatorNotAvailable
	}
	return kafka.InvalidRequest
}
