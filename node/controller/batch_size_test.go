package controller

import (
	"slices"
	"testing"
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// manyPartitions are 12,000 that broker 1 leads, every one in ISR 1, 2, 3.
func manyPartitions(t *testing.T, features []metadata.FeatureLevel) *world {
	t.Helper()
	w := newWorld(t, features).threeBrokers(minISR("3"))
	for _, name := range []string{"a", "b"} {
		topic := NewTopic{Name: name, Partitions: -1, ReplicationFactor: -1, Configs: []metadata.ConfigEntry{minISR("3")}}
		for n := range int32(6000) {
			topic.Assignment = append(topic.Assignment, ManualAssignment{n, brokers(1, 2, 3)})
		}
		w.create(topic)
	}
	w.env.events = nil
	return w
}

func (w *world) ledBy(id kafka.BrokerID) int {
	return len(w.partitionsWhere(func(p *metadata.PartitionImage) bool { return p.Leader == id }))
}

func TestFencingABrokerOfMorePartitionsThanABatchTakesSeveral(t *testing.T) {
	w := manyPartitions(t, elr)
	b, _ := w.Image().Broker(1)
	before := len(w.log.batches)
	answered := 0
	w.Heartbeat(HeartbeatRequest{BrokerID: 1, BrokerEpoch: b.Epoch, WantFence: true}, func(code kafka.ErrorCode, _ HeartbeatReply) {
		if answered++; code != kafka.None {
			t.Errorf("answered %s", code)
		}
	})
	var sizes []int
	for _, batch := range w.log.batches[before:] {
		sizes = append(sizes, len(batch.Records))
	}
	if !slices.Equal(sizes, []int{MaxBatchRecords, 12_001 + 1 - MaxBatchRecords}) {
		t.Fatalf("batches of %v records", sizes)
	}
	w.log.committed++
	w.HandleCommit(w.log.batches[before])
	if answered != 0 || len(w.env.events) != MaxBatchRecords {
		t.Errorf("after the first of two batches: answered %d times, %d events", answered, len(w.env.events))
	}
	w.commit()
	b, _ = w.Image().Broker(1)
	if answered != 1 || !b.Fenced || w.ledBy(1) != 0 || !slices.Contains(w.env.kinds(), event.Fenced) {
		t.Errorf("answered %d times, fenced %v, leads %d", answered, b.Fenced, w.ledBy(1))
	}
}

func TestLosingLeadershipBetweenTheBatchesOfOneOperationKeepsTheFirst(t *testing.T) {
	w := manyPartitions(t, elr)
	b, _ := w.Image().Broker(1)
	before := len(w.log.batches)
	code := kafka.ErrorCode(-100)
	w.Heartbeat(HeartbeatRequest{BrokerID: 1, BrokerEpoch: b.Epoch, WantFence: true}, func(c kafka.ErrorCode, _ HeartbeatReply) { code = c })
	w.HandleCommit(w.log.batches[before])
	w.HandleLeaderChange(102, 2)
	if b, _ = w.Image().Broker(1); code != kafka.NotController || b.Fenced || w.ledBy(1) != 12_001-MaxBatchRecords {
		t.Errorf("answered %s, fenced %v, leads %d", code, b.Fenced, w.ledBy(1))
	}
	if end := w.log.batches[before].Last; w.Image().Offset() != end {
		t.Errorf("the image ends at %d, the committed batch at %d", w.Image().Offset(), end)
	}
}

func TestARegistrationThatFitsNoBatchIsRefusedAndTheOldLifeStillFenced(t *testing.T) {
	w := manyPartitions(t, noELR)
	w.env.now += 9*time.Second + time.Millisecond // over, but nobody has looked yet
	next := w.log.next
	if code, _ := w.tryRegister(1, 2, kafka.NoBrokerEpoch); code != kafka.UnknownServerError || w.log.next != next {
		t.Fatalf("registration: %s, %d records", code, w.log.next-next)
	}
	for range 10 {
		w.beat(2)
		w.beat(3)
		w.after(time.Second)
	}
	if b, _ := w.Image().Broker(1); !b.Fenced || w.ledBy(1) != 0 {
		t.Fatalf("the old life is fenced: %v, leads %d", b.Fenced, w.ledBy(1))
	}
	if code, _ := w.tryRegister(1, 2, kafka.NoBrokerEpoch); code != kafka.None {
		t.Errorf("after the fencing: %s", code)
	}
}
