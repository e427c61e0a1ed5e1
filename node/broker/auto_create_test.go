package broker

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/metadata"
)

// created are the topics that lifecycle was asked to have created.
func created(t *testing.T, b *bench) (names []string) {
	t.Helper()
	for _, s := range b.lane(node.Lifecycle).sent {
		envelope, ok := s.m.Request.(*kmsg.EnvelopeRequest)
		if !ok {
			continue
		}
		m, err := unpackRequest(envelope.RequestData)
		if err != nil {
			t.Fatal(err)
		}
		topic := m.Request.(*kmsg.CreateTopicsRequest).Topics[0]
		if topic.NumPartitions != -1 || topic.ReplicationFactor != -1 {
			t.Errorf("%s is created with numbers of its own: %+v", topic.Topic, topic)
		}
		names = append(names, topic.Topic)
	}
	return names
}

func TestMissingTopicIsCreatedOnceForAClientThatAllowsIt(t *testing.T) {
	for _, c := range []struct {
		name    string
		enable  string
		version int16
		allow   bool
		topic   string
		want    int
	}{
		{"allowed", "true", 12, true, "fresh", 1},
		{"client does not want it", "true", 12, false, "fresh", 0},
		{"broker does not want it", "false", 12, true, "fresh", 0},
		{"old clients cannot say", "true", 3, false, "fresh", 1},
		{"it exists", "true", 12, true, "orders", 0},
		{"internal", "true", 12, true, "__consumer_offsets", 0},
		{"no name for a topic", "true", 12, true, "a/b", 0},
	} {
		cl := newCluster(3)
		cl.topic(1, 1, 1)
		b := boot(t, testConfig(1, kafka.Pair{Key: kafka.AutoCreateTopics, Value: c.enable}), simdisk.New(), cl.whole())
		for range 3 {
			askMetadata(b, c.version, func(r *kmsg.MetadataRequest) {
				byName(c.topic)(r)
				r.AllowAutoTopicCreation = c.allow
			})
		}
		if got := created(t, b); len(got) != c.want {
			t.Errorf("%s: created %v, want %d", c.name, got, c.want)
		}
	}
}

func TestOldClientsAreToldThatTheyCannotUseZstd(t *testing.T) {
	w := record.NewBuilder(record.NoProducer())
	w.Append(1_700_000_000_000, nil, []byte("a"), nil)
	batch := w.BuildCompressed(new(record.Deflater), record.Zstd)
	b, c := leaderBench(t, 1, 1, 1)
	for version, want := range map[int16]kafka.ErrorCode{6: kafka.UnsupportedCompressionType, 7: kafka.None} {
		req := produceRequest(1, map[int32][]byte{0: append([]byte(nil), batch...)})
		req.Version, req.Topics[0].Topic = version, "orders"
		b.request(node.Router, client, req)
		res, _ := take[*kmsg.ProduceResponse](b, node.Router)
		if got := kafka.ErrorCode(res.Topics[0].Partitions[0].ErrorCode); got != want {
			t.Errorf("Produce version %d: %v, want %v", version, got, want)
		}
	}
	b.image(c.commit(metadata.Config{ResourceType: metadata.TopicResource, ResourceName: "orders", Name: kafka.CompressionType, Value: "zstd"}))
	for version, want := range map[int16]kafka.ErrorCode{9: kafka.UnsupportedCompressionType, 10: kafka.None} {
		req := fetchRequest(map[int32]kafka.Offset{0: 0})
		req.Version, req.Topics[0].Topic, req.ReplicaID = version, "orders", -1
		b.request(node.Router, client, req)
		res, _ := take[*kmsg.FetchResponse](b, node.Router)
		if got := kafka.ErrorCode(res.Topics[0].Partitions[0].ErrorCode); got != want {
			t.Errorf("Fetch version %d: %v, want %v", version, got, want)
		}
	}
}
