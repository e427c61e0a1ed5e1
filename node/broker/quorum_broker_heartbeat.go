package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/controller"
)

// handleBrokerHeartbeat answers BrokerHeartbeat, key 63, versions 0 and 1: it
// keeps a broker's session and moves it in and out of the fence (KIP-631).
// It may tell of log directories that failed (KIP-858).
func (l *quorumLane) handleBrokerHeartbeat(m *node.Message, answer answerFunc) {
	req := m.Request.(*kmsg.BrokerHeartbeatRequest)
	r := controller.HeartbeatRequest{BrokerID: kafka.BrokerID(req.BrokerID), BrokerEpoch: kafka.BrokerEpoch(req.BrokerEpoch),
		MetadataOffset: kafka.Offset(req.CurrentMetadataOffset), WantFence: req.WantFence, WantShutdown: req.WantShutdown,
		OfflineLogDirs: uuids(req.OfflineLogDirs)}
	l.controller.Heartbeat(r, func(code kafka.ErrorCode, rep controller.HeartbeatReply) {
		res := kmsg.NewPtrBrokerHeartbeatResponse()
		res.ErrorCode = int16(code)
		if code == kafka.None {
			res.IsCaughtUp, res.IsFenced, res.ShouldShutdown = rep.CaughtUp, rep.Fenced, rep.ShouldShutdown
		}
		answer(res, code)
	})
}
