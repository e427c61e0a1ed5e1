package producer

import (
	"testing"

	"tidemark/model/kafka"
)

// counter draws 0, 1, 2 … as the partitioner sees them.
func counter() func() uint64 {
	n := uint64(0)
	return func() uint64 { n++; return (n - 1) << 33 }
}

func TestStickyStaysForABatchAndMovesWhenItsBatchesAreFull(t *testing.T) {
	s := sticky{batchSize: 100}
	leaders := []leader{1, 2, 3}
	draw := counter()
	first := s.partition(leaders, draw)
	s.note(60, false)
	if got := s.partition(leaders, draw); got != first {
		t.Fatalf("moved to %d after 60 of 100 bytes", got)
	}
	s.note(60, false) // over the size, but a batch is still filling
	if got := s.partition(leaders, draw); got != first {
		t.Fatalf("moved to %d and left a batch half full", got)
	}
	s.note(0, true)
	if got := s.partition(leaders, draw); got == first {
		t.Fatal("stayed though a batch's worth went there and its batches are full")
	}
}

func TestStickyMovesAfterTwoBatchesInAnyCase(t *testing.T) {
	s := sticky{batchSize: 100}
	draw := counter()
	first := s.partition([]leader{1, 2}, draw)
	s.note(199, false)
	if got := s.partition([]leader{1, 2}, draw); got != first {
		t.Fatalf("moved to %d before twice the size", got)
	}
	s.note(1, false)
	if got := s.partition([]leader{1, 2}, draw); got == first {
		t.Fatal("stayed after twice the size")
	}
}

func TestStickyLeavesLeaderlessPartitionsOutUnlessAllAre(t *testing.T) {
	draw := counter()
	for range 20 {
		s := sticky{batchSize: 1}
		if got := s.partition([]leader{kafka.NoBroker, 7, kafka.NoBroker}, draw); got != 1 {
			t.Fatalf("drew %d, which has no leader", got)
		}
	}
	seen := map[int32]bool{}
	for range 20 {
		s := sticky{batchSize: 1}
		seen[s.partition([]leader{kafka.NoBroker, kafka.NoBroker}, draw)] = true
	}
	if len(seen) != 2 {
		t.Errorf("drew %v of two leaderless partitions, want both", seen)
	}
}

func TestAdaptiveDrawsWeighAPartitionByItsQueue(t *testing.T) {
	s := sticky{batchSize: 1}
	s.weigh([]int32{0, 1, 2}, []int{3, 0, 2}, true) // weights 1, 4, 2
	draw := counter()
	drawn := map[int32]int{}
	for range 70 {
		drawn[s.next([]leader{1, 1, 1}, draw)]++
	}
	if drawn[0] != 10 || drawn[1] != 40 || drawn[2] != 20 {
		t.Errorf("70 draws gave %v, want 10, 40, 20", drawn)
	}
	s.weigh([]int32{0, 1}, []int{2, 2}, true)
	if s.loads != nil {
		t.Error("equal queues are weighed")
	}
	s.weigh([]int32{0, 2}, []int{2, 2}, false) // one is avoided: it must stay out
	for range 20 {
		if got := s.next([]leader{1, 1, 1}, draw); got == 1 {
			t.Fatal("drew the partition that is avoided")
		}
	}
}

func TestRecordsWithoutKeyFillABatchBeforeTheyMoveOn(t *testing.T) {
	l := start(t, 1, 4, set("linger.ms", "1"), set("batch.size", "1000"))
	moves, last := 0, int32(-1)
	for range 60 {
		l.p.Send(Record{Topic: "t", Partition: -1, Value: make([]byte, 90)}, func(r Result) {
			if r.TP.Partition != last {
				moves, last = moves+1, r.TP.Partition
			}
		})
	}
	l.p.Poll()
	for l.p.Open() > 0 {
		l.Advance(1e6)
		if len(l.Held) > 0 {
			l.take().reply(kafka.None, 0)
		}
	}
	// 60 records of about 97 bytes are six or seven batches.
	if moves < 2 || moves > 8 {
		t.Errorf("60 records changed partition %d times, want once for each batch or less", moves)
	}
}
