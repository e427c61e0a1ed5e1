package broker

import (
	"strings"
	"testing"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
)

// Rolled segments are synced in the background. When segments are tiny and the device
// stands still, answers stop before the broker runs out of descriptors, as those of a
// topic with flush.messages do; they come once the device goes on.
func TestProduceWaitsWhenRollsOutrunTheirFsyncs(t *testing.T) {
	b, c := leaderBench(t, 1, 1, 1)
	b.image(c.commit(metadata.Config{ResourceType: metadata.TopicResource, ResourceName: "orders", Name: kafka.SegmentBytes, Value: "200"}))
	b.stall = true
	before, sent := b.sentCount(node.Router), 0
	for answered := true; answered && sent < 100; sent++ {
		b.request(node.Router, client, produceRequest(1, map[int32][]byte{0: batchOf(strings.Repeat("a", 100))}))
		answered = b.sentCount(node.Router) == before+sent+1
	}
	if sent < 10 || sent == 100 {
		t.Fatalf("%d requests were answered while no fsync ends", sent-1)
	}
	b.stall = false
	b.settle()
	if got := b.sentCount(node.Router) - before; got != sent {
		t.Errorf("%d of %d requests are answered", got, sent)
	}
}
