package broker_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"tidemark/model/kafka"
	"tidemark/node"
)

// Disks that answer late from the first instant on, nodes that stand still for
// longer than a session, but not for so long that a new broker gives up, topics that
// are created meanwhile: once all is calm, every partition has a leader that clients
// may be sent to.
func TestEveryPartitionHasALeaderOnceItsBrokersAreCalm(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		w, nodes := newHermit(t, seed), []kafka.BrokerID{1}
		if rapid.IntRange(0, 3).Draw(rt, "a whole town") == 0 {
			w, nodes = newTown(t, seed, 1), []kafka.BrokerID{1, 2, 3, 101}
		}
		created, still := 0, time.Duration(0)
		for range rapid.IntRange(3, 12).Draw(rt, "steps") {
			id := rapid.SampledFrom(nodes).Draw(rt, "node")
			pause := time.Duration(rapid.IntRange(1, 400).Draw(rt, "ms")) * time.Millisecond
			switch rapid.IntRange(0, 4).Draw(rt, "what") {
			case 0, 1:
				w.must(w.world.Stall(id, pause))
				w.run(pause / 4)
			case 2:
				pause = min(pause*30, 45*time.Second-still)
				still += pause
				w.must(w.world.Pause(id))
				w.run(pause)
				w.must(w.world.Resume(id))
			default:
				w.run(pause)
				created++
				w.must(w.world.Post(1001, node.App, question{"b1:9092", newTopic("t" + string(rune('a'+created)))}))
				w.run(pause)
			}
		}
		w.run(30 * time.Second)
		req := kmsg.NewPtrMetadataRequest()
		req.Version = 12
		res := w.ask("b1:9092", req).(*kmsg.MetadataResponse)
		for _, topic := range res.Topics {
			for _, p := range topic.Partitions {
				if p.Leader < 0 || p.ErrorCode != 0 {
					rt.Fatalf("%s-%d has leader %d, ISR %v, %v", *topic.Topic, p.Partition, p.Leader, p.ISR, kafka.ErrorCode(p.ErrorCode))
				}
			}
		}
	})
}

func (w *town) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func newTopic(name string) *kmsg.CreateTopicsRequest {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 7, 30000
	req.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: name, NumPartitions: 3, ReplicationFactor: 1}}
	return req
}
