package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// servedAPIs are the API keys and versions of a Kafka 4.1 broker, as far as they
// are here, sorted by key.
//
// Produce is advertised from 0 although 0 to 2 are refused: librdkafka reads
// which compression types a broker takes off the range (KAFKA-18659).
func servedAPIs() []api {
	return []api{
		{Key: 0, Min: 3, Max: 13, Advertised: 0, Handle: (*router).handleProduce},
		{Key: 1, Min: 4, Max: 18, Advertised: 4, Handle: (*router).handleFetch},
		{Key: 2, Min: 1, Max: 10, Advertised: 1, Handle: (*router).handleListOffsets},
		{Key: 3, Min: 0, Max: 13, Advertised: 0, Handle: (*router).handleMetadata},
		{Key: 10, Min: 0, Max: 6, Advertised: 0, Handle: (*router).handleFindCoordinator},
		{Key: 18, Min: 0, Max: 4, Advertised: 0, Handle: (*router).handleAPIVersions},
		{Key: 19, Min: 2, Max: 7, Advertised: 2, Handle: (*router).handleForwarded},
		{Key: 20, Min: 1, Max: 6, Advertised: 1, Handle: (*router).handleForwarded},
		{Key: 21, Min: 0, Max: 2, Advertised: 0, Handle: (*router).handleDeleteRecords},
		{Key: 22, Min: 0, Max: 5, Advertised: 0, Handle: (*router).handleInitProducerID},
		{Key: 23, Min: 2, Max: 4, Advertised: 2, Handle: (*router).handleOffsetForLeaderEpoch},
		{Key: 32, Min: 1, Max: 4, Advertised: 1, Handle: (*router).handleDescribeConfigs},
		{Key: 43, Min: 0, Max: 2, Advertised: 0, Handle: (*router).handleForwarded},
		{Key: 60, Min: 0, Max: 2, Advertised: 0, Handle: (*router).handleDescribeCluster},
	}
}

// handleAPIVersions answers ApiVersions, key 18, versions 0 to 4: what this
// broker serves and, from 3 on, which features the cluster has finalised
// (KIP-584). The answer's header never has tags, so that any client can read
// it (KIP-511).
func (r *router) handleAPIVersions(conn node.ConnID, m *node.Message) {
	res := kmsg.NewPtrApiVersionsResponse()
	res.ApiKeys = r.apiKeys()
	for _, f := range supportedFeatures {
		if f.Min == 0 && m.Version() < 4 {
			continue // version 3 readers refuse a range from 0 (KAFKA-17011)
		}
		s := kmsg.NewApiVersionsResponseSupportedFeature()
		s.Name, s.MinVersion, s.MaxVersion = f.Name, f.Min, f.Max
		res.SupportedFeatures = append(res.SupportedFeatures, s)
		if level := r.image.Feature(f.Name); level > 0 {
			l := kmsg.NewApiVersionsResponseFinalizedFeature()
			l.Name, l.MinVersionLevel, l.MaxVersionLevel = f.Name, level, level
			res.FinalizedFeatures = append(res.FinalizedFeatures, l)
		}
	}
	res.FinalizedFeaturesEpoch = int64(r.image.Offset())
	r.reply(conn, m, res)
}

// refuseVersion tells a client that asked in an unknown version of ApiVersions
// which versions of it there are, in version 0, which all can read.
func (r *router) refuseVersion(conn node.ConnID, m *node.Message) {
	res := kmsg.NewPtrApiVersionsResponse()
	res.SetVersion(0)
	res.ErrorCode = int16(kafka.UnsupportedVersion)
	for _, k := range r.apiKeys() {
		if k.ApiKey == m.Key() {
			res.ApiKeys = append(res.ApiKeys, k)
		}
	}
	r.env.Send(conn, &node.Message{CorrelationID: m.CorrelationID, Response: res})
}

func (r *router) apiKeys() []kmsg.ApiVersionsResponseApiKey {
	keys := make([]kmsg.ApiVersionsResponseApiKey, len(r.apis))
	for i, a := range r.apis {
		keys[i] = kmsg.NewApiVersionsResponseApiKey()
		keys[i].ApiKey, keys[i].MinVersion, keys[i].MaxVersion = a.Key, a.Advertised, a.Max
	}
	return keys
}
