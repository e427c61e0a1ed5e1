package broker

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
)

func askMetadata(b *bench, version int16, change func(*kmsg.MetadataRequest)) *kmsg.MetadataResponse {
	b.t.Helper()
	req := kmsg.NewPtrMetadataRequest()
	req.Version = version
	change(req)
	b.request(node.Router, client, req)
	res, _ := take[*kmsg.MetadataResponse](b, node.Router)
	return res
}

func byName(names ...string) func(*kmsg.MetadataRequest) {
	return func(req *kmsg.MetadataRequest) {
		req.Topics = []kmsg.MetadataRequestTopic{}
		for _, name := range names {
			topic := kmsg.NewMetadataRequestTopic()
			topic.Topic = kmsg.StringPtr(name)
			req.Topics = append(req.Topics, topic)
		}
	}
}

func byID(id kafka.UUID) func(*kmsg.MetadataRequest) {
	return func(req *kmsg.MetadataRequest) {
		topic := kmsg.NewMetadataRequestTopic()
		topic.TopicID = id
		req.Topics = append(req.Topics, topic)
	}
}

func TestMetadataTellsOfBrokersThatAreNotFenced(t *testing.T) {
	b, c := leaderBench(t, 1, 2, 1, 2, 3)
	b.image(c.commit(metadata.BrokerRegistrationChange{BrokerID: 2, BrokerEpoch: 20, Fencing: metadata.Fence},
		metadata.PartitionChange{PartitionID: 1, TopicID: ordersID, Leader: 2, RecoveryState: metadata.KeepRecoveryState}))
	res := askMetadata(b, 12, byName("orders"))
	if len(res.Brokers) != 2 || res.Brokers[0].NodeID != 1 || res.Brokers[0].Host != "b1" || res.Brokers[1].NodeID != 3 {
		t.Errorf("brokers %+v", res.Brokers)
	}
	if *res.ClusterID != b.cfg.ClusterID.String() || (res.ControllerID != 1 && res.ControllerID != 3) {
		t.Errorf("cluster %v, controller %d", *res.ClusterID, res.ControllerID)
	}
	topic := res.Topics[0]
	if kafka.UUID(topic.TopicID) != ordersID || *topic.Topic != "orders" || len(topic.Partitions) != 2 {
		t.Fatalf("topic %+v", topic)
	}
	if p := topic.Partitions[0]; p.ErrorCode != 0 || p.Leader != 1 || p.LeaderEpoch != 0 || len(p.Replicas) != 3 || len(p.OfflineReplicas) != 1 || p.OfflineReplicas[0] != 2 {
		t.Errorf("partition with a live leader: %+v", p)
	}
	if p := topic.Partitions[1]; kafka.ErrorCode(p.ErrorCode) != kafka.LeaderNotAvailable || p.Leader != -1 || p.LeaderEpoch != 1 {
		t.Errorf("partition with a fenced leader: %+v", p)
	}
}

func TestMetadataOfWhatIsAsked(t *testing.T) {
	b, _ := leaderBench(t, 1, 1, 1)
	for _, c := range []struct {
		name    string
		version int16
		ask     func(*kmsg.MetadataRequest)
		topics  int
		want    kafka.ErrorCode
	}{
		{"all", 12, func(*kmsg.MetadataRequest) {}, 1, kafka.None},
		{"all, the way of version 0", 0, byName(), 1, kafka.None},
		{"none", 12, byName(), 0, kafka.None},
		{"by id", 12, byID(ordersID), 1, kafka.None},
		{"unknown id", 12, byID(kafka.UUID{99}), 1, kafka.UnknownTopicID},
		{"unknown name", 9, byName("nope"), 1, kafka.UnknownTopicOrPartition},
		{"impossible name", 9, byName("a/b"), 1, kafka.InvalidTopic},
	} {
		res := askMetadata(b, c.version, c.ask)
		if len(res.Topics) != c.topics || c.topics > 0 && kafka.ErrorCode(res.Topics[0].ErrorCode) != c.want {
			t.Errorf("%s: %+v, want %d topics with %v", c.name, res.Topics, c.topics, c.want)
		}
	}
}

func TestAPIVersionsAreThoseThatTheRouterServes(t *testing.T) {
	b, _ := leaderBench(t, 1, 1, 1)
	req := kmsg.NewPtrApiVersionsRequest()
	req.Version = 4
	b.request(node.Router, client, req)
	res, _ := take[*kmsg.ApiVersionsResponse](b, node.Router)
	found := map[int16][2]int16{}
	for i, k := range res.ApiKeys {
		if i > 0 && res.ApiKeys[i-1].ApiKey >= k.ApiKey {
			t.Errorf("keys are not ascending: %+v", res.ApiKeys)
		}
		found[k.ApiKey] = [2]int16{k.MinVersion, k.MaxVersion}
	}
	// Kafka 4.1; Produce says 0 for old librdkafka (KAFKA-18659).
	for key, want := range map[int16][2]int16{0: {0, 13}, 1: {4, 18}, 2: {1, 10}, 3: {0, 13}, 18: {0, 4}, 19: {2, 7}, 23: {2, 4}, 43: {0, 2}} {
		if found[key] != want {
			t.Errorf("key %d: %v, want %v", key, found[key], want)
		}
	}
	if len(res.FinalizedFeatures) != 1 || res.FinalizedFeatures[0].MaxVersionLevel != 27 {
		t.Errorf("finalised features %+v", res.FinalizedFeatures)
	}
}

func TestUnknownVersionOfAPIVersionsIsAnsweredInVersionZero(t *testing.T) {
	b, _ := leaderBench(t, 1, 1, 1)
	req := kmsg.NewPtrApiVersionsRequest()
	req.Version = 5
	b.request(node.Router, client, req)
	res, sent := take[*kmsg.ApiVersionsResponse](b, node.Router)
	if kafka.ErrorCode(res.ErrorCode) != kafka.UnsupportedVersion || res.Version != 0 || sent.m.Version() != 0 {
		t.Errorf("answer %+v", res)
	}
	if len(res.ApiKeys) != 1 || res.ApiKeys[0].ApiKey != 18 || res.ApiKeys[0].MaxVersion != 4 {
		t.Errorf("keys %+v, want the range of ApiVersions", res.ApiKeys)
	}
}

func TestNothingIsServedBeforeTheBrokerHasCaughtUpWithItsRegistration(t *testing.T) {
	cfg := testConfig(1)
	c := newCluster(3)
	c.topic(1, 1, 1, 2) // as the life before led it
	b := newBench(t, cfg, simdisk.New(), everyLane(cfg)...)
	refused := func(when string) {
		b.t.Helper()
		n := len(b.lane(node.Router).closed)
		b.request(node.Router, client, produceRequest(1, map[int32][]byte{0: batchOf("a")}))
		if len(b.lane(node.Router).closed) != n+1 || b.sentCount(node.Router) != 0 {
			t.Errorf("%s: the request was not turned away", when)
		}
	}
	refused("before the first image")
	b.image(c.whole())
	refused("before the registration")
	b.post(node.Quorum, node.Lifecycle, controllerPost{Controller: 101, Addr: "c101:9093", Epoch: 1})
	b.answer(node.Lifecycle, &kmsg.BrokerRegistrationResponse{BrokerEpoch: 77})
	refused("before the broker caught up")
	b.answer(node.Lifecycle, heartbeatSaid(true, true, false))
	b.produce(1, map[int32][]byte{0: batchOf("a")})
}

func TestNothingIsServedAfterTheStop(t *testing.T) {
	b, _ := leaderBench(t, 1, 1, 1, 2)
	b.request(node.Router, client, produceRequest(-1, map[int32][]byte{0: batchOf("a")}))
	b.stop()
	if closed := b.lane(node.Router).closed; len(closed) != 1 || closed[0] != client || b.sentCount(node.Router) != 0 {
		t.Errorf("closed %v, sent %d; the waiting request should be hung up on", closed, b.sentCount(node.Router))
	}
}

func TestForwardedRequestsTimeOutItemByItem(t *testing.T) {
	for _, req := range []kmsg.Request{
		&kmsg.CreateTopicsRequest{Version: 7, Topics: []kmsg.CreateTopicsRequestTopic{{Topic: "a"}}},
		&kmsg.DeleteTopicsRequest{Version: 6, Topics: []kmsg.DeleteTopicsRequestTopic{{Topic: kmsg.StringPtr("a")}}},
		&kmsg.DeleteTopicsRequest{Version: 5, TopicNames: []string{"a"}},
		&kmsg.ElectLeadersRequest{Version: 2},
	} {
		b, _ := leaderBench(t, 1, 1, 1)
		b.request(node.Router, client, req)
		if b.sentCount(node.Router) != 0 {
			t.Fatalf("key %d was answered here", req.Key())
		}
		b.post(node.Lifecycle, node.Router, forwardedPost{ID: 1})
		var code int16
		switch res := b.lane(node.Router).sent[0].m.Response.(type) {
		case *kmsg.CreateTopicsResponse:
			code = res.Topics[0].ErrorCode
		case *kmsg.DeleteTopicsResponse:
			code = res.Topics[0].ErrorCode
		case *kmsg.ElectLeadersResponse:
			code = res.ErrorCode
		}
		if kafka.ErrorCode(code) != kafka.RequestTimedOut {
			t.Errorf("key %d: %v", req.Key(), kafka.ErrorCode(code))
		}
	}
}
