package broker

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// wireCase is what a client asks with one API key and what it must get, in every
// version that is served.
type wireCase struct {
	ask func(version int16) kmsg.Request
	// check returns what is wrong with an answer, "" if nothing is.
	check func(version int16, res kmsg.Response) string
	// relay, if set, is what the controller answers to a request that the broker
	// passes on.
	relay func() kmsg.Response
}

// wrong returns text unless ok.
func wrong(ok bool, format string, v ...any) string {
	if ok {
		return ""
	}
	return fmt.Sprintf(format, v...)
}

func topicName() *string { return kmsg.StringPtr("orders") }

// wireCases are by API key; the broker leads orders-0, which holds two records.
var wireCases = map[int16]wireCase{
	0: {ask: func(v int16) kmsg.Request {
		r := produceRequest(1, map[int32][]byte{0: batchOf("c")})
		r.Topics[0].Topic = "orders"
		return r
	}, check: func(v int16, res kmsg.Response) string {
		p := res.(*kmsg.ProduceResponse).Topics[0].Partitions[0]
		return wrong(p.ErrorCode == 0 && p.BaseOffset == 2 && (v < 5 || p.LogStartOffset == 0), "%+v", p)
	}},
	1: {ask: func(v int16) kmsg.Request {
		r := fetchRequest(map[int32]kafka.Offset{0: 0})
		r.Topics[0].Topic, r.ReplicaID = "orders", -1
		return r
	}, check: func(v int16, res kmsg.Response) string {
		r := res.(*kmsg.FetchResponse)
		p := r.Topics[0].Partitions[0]
		return wrong(r.ErrorCode == 0 && p.ErrorCode == 0 && p.HighWatermark == 2 && p.LastStableOffset == 2 &&
			(v < 13 || r.Topics[0].TopicID == ordersID) && (v >= 13 || r.Topics[0].Topic == "orders"), "%+v", r)
	}},
	2: {ask: func(v int16) kmsg.Request { return listOffsets(v, -1, 0) },
		check: func(v int16, res kmsg.Response) string {
			p := res.(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
			return wrong(p.ErrorCode == 0 && p.Offset == 2 && (v < 4 || p.LeaderEpoch == 0), "%+v", p)
		}},
	3: {ask: func(int16) kmsg.Request {
		r := kmsg.NewPtrMetadataRequest()
		byName("orders")(r)
		return r
	}, check: func(v int16, res kmsg.Response) string {
		r := res.(*kmsg.MetadataResponse)
		p := r.Topics[0].Partitions[0]
		return wrong(len(r.Brokers) == 3 && *r.Topics[0].Topic == "orders" && p.Leader == 1 && len(p.ISR) == 1 &&
			(v < 2 || *r.ClusterID == testConfig(1).ClusterID.String()) && (v < 1 || r.ControllerID >= 1) &&
			(v < 10 || r.Topics[0].TopicID == ordersID), "%+v", r)
	}},
	10: {ask: func(int16) kmsg.Request {
		r := kmsg.NewPtrFindCoordinatorRequest()
		r.CoordinatorKey, r.CoordinatorKeys = "g", []string{"g", "h"}
		return r
	}, check: func(v int16, res kmsg.Response) string {
		r := res.(*kmsg.FindCoordinatorResponse)
		if v < 4 {
			return wrong(kafka.ErrorCode(r.ErrorCode) == kafka.CoordinatorNotAvailable && r.NodeID == -1, "%+v", r)
		}
		return wrong(len(r.Coordinators) == 2 && r.Coordinators[1].Key == "h" &&
			kafka.ErrorCode(r.Coordinators[1].ErrorCode) == kafka.CoordinatorNotAvailable, "%+v", r)
	}},
	18: {ask: func(int16) kmsg.Request { return kmsg.NewPtrApiVersionsRequest() },
		check: func(v int16, res kmsg.Response) string {
			r := res.(*kmsg.ApiVersionsResponse)
			return wrong(r.ErrorCode == 0 && len(r.ApiKeys) == len(servedAPIs()) && r.ApiKeys[0].MinVersion == 0 && r.ApiKeys[0].MaxVersion == 13, "%+v", r)
		}},
	19: {ask: func(int16) kmsg.Request { return kmsg.NewPtrCreateTopicsRequest() },
		relay: func() kmsg.Response {
			r := kmsg.NewPtrCreateTopicsResponse()
			t := kmsg.NewCreateTopicsResponseTopic()
			t.Topic = "orders"
			r.Topics = append(r.Topics, t)
			return r
		}, check: func(_ int16, res kmsg.Response) string {
			r := res.(*kmsg.CreateTopicsResponse)
			return wrong(len(r.Topics) == 1 && r.Topics[0].Topic == "orders", "%+v", r)
		}},
	20: {ask: func(int16) kmsg.Request { return kmsg.NewPtrDeleteTopicsRequest() },
		relay: func() kmsg.Response {
			r := kmsg.NewPtrDeleteTopicsResponse()
			t := kmsg.NewDeleteTopicsResponseTopic()
			t.Topic = topicName()
			r.Topics = append(r.Topics, t)
			return r
		}, check: func(_ int16, res kmsg.Response) string {
			r := res.(*kmsg.DeleteTopicsResponse)
			return wrong(len(r.Topics) == 1 && *r.Topics[0].Topic == "orders", "%+v", r)
		}},
	21: {ask: func(int16) kmsg.Request { return deleteRecords(map[int32]kafka.Offset{0: 1}) },
		check: func(_ int16, res kmsg.Response) string {
			p := res.(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0]
			return wrong(p.ErrorCode == 0 && p.LowWatermark == 1, "%+v", p)
		}},
	22: {ask: func(int16) kmsg.Request {
		r := kmsg.NewPtrInitProducerIDRequest()
		r.ProducerID, r.ProducerEpoch = -1, -1
		return r
	}, check: func(_ int16, res kmsg.Response) string {
		r := res.(*kmsg.InitProducerIDResponse)
		return wrong(kafka.ErrorCode(r.ErrorCode) == kafka.CoordinatorLoadInProgress && r.ProducerID == -1, "%+v", r)
	}},
	23: {ask: func(int16) kmsg.Request {
		r := kmsg.NewPtrOffsetForLeaderEpochRequest()
		t := kmsg.NewOffsetForLeaderEpochRequestTopic()
		t.Topic = "orders"
		p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		p.CurrentLeaderEpoch = -1
		t.Partitions = append(t.Partitions, p)
		r.ReplicaID, r.Topics = -1, append(r.Topics, t)
		return r
	}, check: func(_ int16, res kmsg.Response) string {
		p := res.(*kmsg.OffsetForLeaderEpochResponse).Topics[0].Partitions[0]
		return wrong(p.ErrorCode == 0 && p.LeaderEpoch == 0 && p.EndOffset == 2, "%+v", p)
	}},
	32: {ask: func(int16) kmsg.Request {
		return describeConfigs(kmsg.ConfigResourceTypeTopic, "orders", kafka.MinInsyncReplicas)
	}, check: func(v int16, res kmsg.Response) string {
		r := res.(*kmsg.DescribeConfigsResponse).Resources[0]
		return wrong(r.ErrorCode == 0 && len(r.Configs) == 1 && *r.Configs[0].Value == "1" && r.Configs[0].Source == kmsg.ConfigSourceDefaultConfig &&
			(v < 3 || r.Configs[0].ConfigType == kmsg.ConfigTypeInt), "%+v", r)
	}},
	43: {ask: func(int16) kmsg.Request { return kmsg.NewPtrElectLeadersRequest() },
		relay: func() kmsg.Response { return kmsg.NewPtrElectLeadersResponse() },
		check: func(_ int16, res kmsg.Response) string {
			return wrong(res.(*kmsg.ElectLeadersResponse).ErrorCode == 0, "%+v", res)
		}},
	60: {ask: func(int16) kmsg.Request {
		r := kmsg.NewPtrDescribeClusterRequest()
		r.EndpointType = brokerEndpoints
		return r
	}, check: func(_ int16, res kmsg.Response) string {
		r := res.(*kmsg.DescribeClusterResponse)
		return wrong(r.ErrorCode == 0 && r.ClusterID == testConfig(1).ClusterID.String() && len(r.Brokers) == 3 && r.Brokers[1].Host == "b2", "%+v", r)
	}},
}

// overWire is a body as the peer reads it: what the version does not carry is
// gone.
func overWire[T interface {
	AppendTo([]byte) []byte
	ReadFrom([]byte) error
}](t *testing.T, from, to T) T {
	t.Helper()
	if err := to.ReadFrom(from.AppendTo(nil)); err != nil {
		t.Fatalf("%T: %v", from, err)
	}
	return to
}

func TestEveryServedVersionAnswersWhatWasAsked(t *testing.T) {
	for _, a := range servedAPIs() {
		c, ok := wireCases[a.Key]
		if !ok {
			t.Errorf("API key %d has no case here", a.Key)
			continue
		}
		for v := a.Min; v <= a.Max; v++ {
			b, _ := leaderBench(t, 1, 1, 1)
			b.produceOn(9, 0, batchOf("a", "b"))
			asked := c.ask(v)
			asked.SetVersion(v)
			read := kmsg.RequestForKey(a.Key)
			read.SetVersion(v)
			b.request(node.Router, client, overWire(t, asked, read))
			if c.relay != nil {
				relay(t, b, v, c.relay())
			}
			_, m := take[kmsg.Response](b, node.Router)
			answer := kmsg.ResponseForKey(a.Key)
			answer.SetVersion(v)
			if m.conn != client || m.m.Response.GetVersion() != v {
				t.Errorf("key %d version %d: the answer has version %d", a.Key, v, m.m.Response.GetVersion())
			}
			if bad := c.check(v, overWire(t, m.m.Response, answer)); bad != "" {
				t.Errorf("key %d (%s) version %d: %s", a.Key, kmsg.NameForKey(a.Key), v, bad)
			}
		}
	}
}

// relay is the controller: it must be given the request in the version in which
// it came.
func relay(t *testing.T, b *bench, version int16, res kmsg.Response) {
	t.Helper()
	envelope, sent := take[*kmsg.EnvelopeRequest](b, node.Lifecycle)
	m, err := unpackRequest(envelope.RequestData)
	if err != nil || m.Version() != version || m.Key() != res.Key() {
		t.Fatalf("passed on: key %d version %d, %v", m.Key(), m.Version(), err)
	}
	answer := kmsg.NewPtrEnvelopeResponse()
	answer.ResponseData = packResponse(m.Reply(res))
	b.answerTo(b.lane(node.Lifecycle), sent, answer)
}

func TestVersionsBesideTheServedOnesEndTheConnection(t *testing.T) {
	for _, a := range servedAPIs() {
		for _, v := range []int16{a.Min - 1, a.Max + 1} {
			if v < 0 || a.Key == 18 {
				continue
			}
			b, _ := leaderBench(t, 1, 1, 1)
			req := kmsg.RequestForKey(a.Key)
			req.SetVersion(v)
			b.request(node.Router, client, req)
			if closed := b.lane(node.Router).closed; len(closed) != 1 || b.sentCount(node.Router) != 0 {
				t.Errorf("key %d version %d: closed %v", a.Key, v, closed)
			}
		}
	}
}

func TestListOffsetsKnowsTheTimestampsOfEachVersion(t *testing.T) {
	b, _ := leaderBench(t, 1, 1, 1)
	b.produceOn(9, 0, batchOf("a", "b"))
	for _, c := range []struct {
		timestamp int64
		version   int16
		want      kafka.ErrorCode
		offset    int64
	}{
		{-3, 6, kafka.UnsupportedVersion, -1}, {-3, 7, kafka.None, 0}, // all have one timestamp: the first
		{-4, 7, kafka.UnsupportedVersion, -1}, {-4, 8, kafka.None, 0},
		{-5, 8, kafka.UnsupportedVersion, -1}, {-5, 9, kafka.None, -1},
		{-6, 10, kafka.UnsupportedVersion, -1},
	} {
		b.request(node.Router, client, listOffsets(c.version, c.timestamp, 0))
		res, _ := take[*kmsg.ListOffsetsResponse](b, node.Router)
		if p := res.Topics[0].Partitions[0]; kafka.ErrorCode(p.ErrorCode) != c.want || p.Offset != c.offset {
			t.Errorf("timestamp %d in version %d: %v, offset %d", c.timestamp, c.version, kafka.ErrorCode(p.ErrorCode), p.Offset)
		}
	}
}
