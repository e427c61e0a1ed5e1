package broker_test

import (
	"math"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// send produces a batch of n records of a producer and returns its base offset.
func (w *town) send(addr string, topic kafka.UUID, producer kafka.ProducerID, first kafka.Sequence, n int) (base int64, code kafka.ErrorCode) {
	w.t.Helper()
	b := record.NewBuilder(record.NoProducer())
	for range n {
		b.Append(1_767_225_600_000, nil, []byte("value"), nil)
	}
	batch := b.Build()
	batch.SetProducer(producer, 0, first)
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 13, -1, 30000
	req.Topics = []kmsg.ProduceRequestTopic{{TopicID: topic, Partitions: []kmsg.ProduceRequestTopicPartition{{Records: batch}}}}
	p := w.ask(addr, req).(*kmsg.ProduceResponse).Topics[0].Partitions[0]
	return p.BaseOffset, kafka.ErrorCode(p.ErrorCode)
}

// P5: KAFKA-5283, KAFKA-7692. The follower that is elected has to know it, too.
func TestSequencesGoOnAtZeroAcrossAFailover(t *testing.T) {
	w := newTown(t, 5, 2)
	topic, me := w.createOrders(), kafka.ProducerID(7)
	const start = math.MaxInt32 - 7
	for i, b := range []struct {
		first kafka.Sequence
		n     int
	}{{start, 3}, {start + 3, 10}, {5, 1}} { // the second one ends at sequence 4
		if base, code := w.send("b1:9092", topic, me, b.first, b.n); code != kafka.None || base != []int64{0, 3, 13}[i] {
			t.Fatalf("from sequence %d: at %d, %v", b.first, base, code)
		}
	}
	if err := w.world.Kill(1); err != nil {
		t.Fatal(err)
	}
	w.run(15 * time.Second)
	if base, code := w.send("b2:9092", topic, me, start+3, 10); code != kafka.None || base != 3 {
		t.Errorf("retry of the batch across the largest sequence: at %d, %v; want 3", base, code)
	}
	if _, code := w.send("b2:9092", topic, me, 7, 1); code != kafka.OutOfOrderSequenceNumber {
		t.Errorf("behind a gap: %v", code)
	}
	if base, code := w.send("b2:9092", topic, me, 6, 1); code != kafka.None || base != 14 {
		t.Errorf("the next one: at %d, %v; want 14", base, code)
	}
}

func TestProducerIDsOfTwoBrokersAndTwoLivesDiffer(t *testing.T) {
	w := newTown(t, 6, 1)
	w.createOrders()
	seen := map[int64]bool{}
	ask := func(addr string) {
		for range 3 {
			for {
				req := kmsg.NewPtrInitProducerIDRequest()
				req.Version = 5
				res := w.ask(addr, req).(*kmsg.InitProducerIDResponse)
				if kafka.ErrorCode(res.ErrorCode) == kafka.CoordinatorLoadInProgress {
					continue // its block is on its way
				}
				if res.ErrorCode != 0 || seen[res.ProducerID] {
					t.Fatalf("%s gives %d, %v; given before: %v", addr, res.ProducerID, kafka.ErrorCode(res.ErrorCode), seen)
				}
				seen[res.ProducerID] = true
				break
			}
		}
	}
	ask("b1:9092")
	ask("b2:9092")
	if err := w.world.Kill(1); err != nil {
		t.Fatal(err)
	}
	if err := w.world.Kill(101); err != nil {
		t.Fatal(err)
	}
	w.start(101)
	w.start(1)
	ask("b1:9092")
	if len(seen) != 9 {
		t.Errorf("%d ids, want 9", len(seen))
	}
}
