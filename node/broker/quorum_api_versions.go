package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// handleAPIVersions answers ApiVersions, key 18, versions 0 to 4, with what the
// CONTROLLER listener serves and the features of the cluster.
func (l *quorumLane) handleAPIVersions(m *node.Message, answer answerFunc) {
	res := kmsg.NewPtrApiVersionsResponse()
	for _, a := range l.apis {
		res.ApiKeys = append(res.ApiKeys, a.served())
	}
	im := l.controller.Image()
	for _, f := range supportedFeatures {
		if f.Min == 0 && m.Version() < 4 {
			continue // version 3 readers refuse a range from 0 (KAFKA-17011)
		}
		s := kmsg.NewApiVersionsResponseSupportedFeature()
		s.Name, s.MinVersion, s.MaxVersion = f.Name, f.Min, f.Max
		res.SupportedFeatures = append(res.SupportedFeatures, s)
	}
	for _, f := range im.Features() {
		level := kmsg.NewApiVersionsResponseFinalizedFeature()
		level.Name, level.MinVersionLevel, level.MaxVersionLevel = f.Name, f.Level, f.Level
		res.FinalizedFeatures = append(res.FinalizedFeatures, level)
	}
	res.FinalizedFeaturesEpoch = int64(im.Offset())
	answer(res, kafka.None)
}

func (a controllerAPI) served() kmsg.ApiVersionsResponseApiKey {
	k := kmsg.NewApiVersionsResponseApiKey()
	k.ApiKey, k.MinVersion, k.MaxVersion = int16(a.Key), a.Min, a.Max
	return k
}

// refusedVersions tells a client that asked in an unknown version of
// ApiVersions which versions of it there are, in version 0, which all can read.
func (l *quorumLane) refusedVersions(m *node.Message) *node.Message {
	res := kmsg.NewPtrApiVersionsResponse()
	res.SetVersion(0)
	res.ErrorCode = int16(kafka.UnsupportedVersion)
	for _, a := range l.apis {
		if a.Key == kmsg.ApiVersions {
			res.ApiKeys = append(res.ApiKeys, a.served())
		}
	}
	return &node.Message{CorrelationID: m.CorrelationID, Response: res}
}
