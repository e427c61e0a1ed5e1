package broker

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
)

func describeConfigs(kind kmsg.ConfigResourceType, name string, keys ...string) *kmsg.DescribeConfigsRequest {
	r := kmsg.NewPtrDescribeConfigsRequest()
	r.IncludeSynonyms, r.IncludeDocumentation = true, true
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName, resource.ConfigNames = kind, name, keys
	r.Resources = append(r.Resources, resource)
	return r
}

func TestDescribedConfigTellsEveryPlaceThatGivesItAValue(t *testing.T) {
	c := newCluster(3)
	c.topic(1, 1, 1)
	c.commit(metadata.Config{ResourceType: metadata.TopicResource, ResourceName: "orders", Name: kafka.SegmentBytes, Value: "4000000"},
		metadata.Config{ResourceType: metadata.BrokerResource, ResourceName: "", Name: "log.segment.bytes", Value: "3000000"})
	b := boot(t, testConfig(1, kafka.Pair{Key: "log.segment.bytes", Value: "2000000"}), simdisk.New(), c.whole())
	req := describeConfigs(kmsg.ConfigResourceTypeTopic, "orders", kafka.SegmentBytes)
	req.Version = 4
	b.request(node.Router, client, req)
	res, _ := take[*kmsg.DescribeConfigsResponse](b, node.Router)
	got := res.Resources[0].Configs[0]
	var chain string
	for _, s := range got.ConfigSynonyms {
		chain += fmt.Sprintf("%s=%s from %d; ", s.Name, *s.Value, s.Source)
	}
	if want := "segment.bytes=4000000 from 1; log.segment.bytes=3000000 from 3; log.segment.bytes=2000000 from 4; log.segment.bytes=1073741824 from 5; "; chain != want ||
		*got.Value != "4000000" || got.ReadOnly || got.Documentation == nil {
		t.Errorf("%s in force, read-only %v, synonyms\n%s want\n%s", *got.Value, got.ReadOnly, chain, want)
	}
}

func TestDescribeConfigsErrorCodes(t *testing.T) {
	for _, c := range []struct {
		name string
		kind kmsg.ConfigResourceType
		of   string
		want kafka.ErrorCode
	}{
		{"unknown topic", kmsg.ConfigResourceTypeTopic, "nope", kafka.UnknownTopicOrPartition},
		{"no topic name", kmsg.ConfigResourceTypeTopic, "a/b", kafka.InvalidTopic},
		{"this broker", kmsg.ConfigResourceTypeBroker, "1", kafka.None},
		{"another broker", kmsg.ConfigResourceTypeBroker, "2", kafka.InvalidRequest},
		{"no resource of Kafka's brokers", kmsg.ConfigResourceType(99), "x", kafka.InvalidRequest},
	} {
		b, _ := leaderBench(t, 1, 1, 1)
		req := describeConfigs(c.kind, c.of)
		req.Version = 4
		req.Resources[0].ConfigNames = nil
		b.request(node.Router, client, req)
		res, _ := take[*kmsg.DescribeConfigsResponse](b, node.Router)
		if got := kafka.ErrorCode(res.Resources[0].ErrorCode); got != c.want || (got == kafka.None) != (len(res.Resources[0].Configs) > 20) {
			t.Errorf("%s: %v with %d configs, want %v", c.name, got, len(res.Resources[0].Configs), c.want)
		}
	}
}

func TestDescribeClusterNamesFencedBrokersIfAsked(t *testing.T) {
	b, c := leaderBench(t, 1, 1, 1)
	b.image(c.commit(metadata.BrokerRegistrationChange{BrokerID: 2, BrokerEpoch: 20, Fencing: metadata.Fence}))
	for _, fenced := range []bool{false, true} {
		req := kmsg.NewPtrDescribeClusterRequest()
		req.Version, req.EndpointType, req.IncludeFencedBrokers = 2, brokerEndpoints, fenced
		b.request(node.Router, client, req)
		res, _ := take[*kmsg.DescribeClusterResponse](b, node.Router)
		if want := map[bool]int{false: 2, true: 3}[fenced]; len(res.Brokers) != want || fenced != res.Brokers[1].IsFenced {
			t.Errorf("with fenced brokers %v: %+v", fenced, res.Brokers)
		}
	}
	req := kmsg.NewPtrDescribeClusterRequest()
	req.Version, req.EndpointType = 1, 2
	b.request(node.Router, client, req)
	if res, _ := take[*kmsg.DescribeClusterResponse](b, node.Router); kafka.ErrorCode(res.ErrorCode) != kafka.MismatchedEndpointType {
		t.Errorf("controllers' endpoints asked of a broker: %v", kafka.ErrorCode(res.ErrorCode))
	}
}
