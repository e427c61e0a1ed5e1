package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/controller"
	"tidemark/node/metadata"
)

// handleBrokerRegistration answers BrokerRegistration, key 62, versions 3 and 4
// (which may name features from level 0): a broker's life begins, and with its
// previous epoch it tells whether the last one ended cleanly (KIP-966).
func (l *quorumLane) handleBrokerRegistration(m *node.Message, answer answerFunc) {
	req := m.Request.(*kmsg.BrokerRegistrationRequest)
	r := controller.RegistrationRequest{BrokerID: kafka.BrokerID(req.BrokerID), ClusterID: req.ClusterID,
		IncarnationID: req.IncarnationID, PreviousEpoch: kafka.BrokerEpoch(req.PreviousBrokerEpoch)}
	for _, e := range req.Listeners {
		r.EndPoints = append(r.EndPoints, metadata.Endpoint{Name: e.Name, Host: e.Host, Port: e.Port, SecurityProtocol: e.SecurityProtocol})
	}
	for _, f := range req.Features {
		r.Features = append(r.Features, metadata.FeatureRange{Name: f.Name, Min: f.MinSupportedVersion, Max: f.MaxSupportedVersion})
	}
	if req.Rack != nil {
		r.Rack = *req.Rack
	}
	for _, dir := range req.LogDirs {
		r.LogDirs = append(r.LogDirs, dir)
	}
	l.controller.RegisterBroker(r, func(code kafka.ErrorCode, epoch kafka.BrokerEpoch) {
		res := kmsg.NewPtrBrokerRegistrationResponse()
		res.ErrorCode, res.BrokerEpoch = int16(code), int64(epoch)
		answer(res, code)
	})
}
