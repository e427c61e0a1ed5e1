package producer

import (
	"sort"

	"tidemark/model/kafka"
)

// sticky is the built-in partitioner of one topic for records without key
// (KIP-794). It stays on a partition until a batch's worth of bytes went there,
// so that batches fill, and then draws the next; a partition whose queue is
// long is drawn less often, as its broker is slow.
type sticky struct {
	batchSize int // bytes

	chosen   bool
	current  int32
	produced int // bytes to current

	// loads, if any, weigh the partitions: loads[i] is the sum of the weights of
	// ids[:i+1].
	ids   []int32
	loads []int
}

// partition is where the next record goes.
func (s *sticky) partition(leaders []leader, draw func() uint64) int32 {
	if !s.chosen {
		s.current, s.produced, s.chosen = s.next(leaders, draw), 0, true
	}
	return s.current
}

// leader is who leads one partition of a topic; the index is its number.
type leader = kafka.BrokerID

// note counts bytes that went to the current partition and decides whether to
// move on: after batch.size bytes if its queue holds full batches only, so that
// no half-filled one is left behind; after twice that in any case.
func (s *sticky) note(bytes int, queueFull bool) {
	s.produced += bytes
	if s.produced >= s.batchSize && queueFull || s.produced >= 2*s.batchSize {
		s.chosen = false
	}
}

func (s *sticky) next(leaders []leader, draw func() uint64) int32 {
	random := int(draw() >> 33) // 31 bits, as the Java client draws
	if len(s.loads) > 0 {
		r := random % s.loads[len(s.loads)-1]
		return s.ids[sort.Search(len(s.loads), func(i int) bool { return s.loads[i] > r })]
	}
	var available []int32
	for i, l := range leaders {
		if l != kafka.NoBroker {
			available = append(available, int32(i))
		}
	}
	if len(available) == 0 {
		return int32(random % len(leaders))
	}
	return available[random%len(available)]
}

// weigh takes in the queue lengths, in batches, of the partitions that may be
// drawn; all tells whether that is every partition. Equal queues draw evenly.
func (s *sticky) weigh(ids []int32, lengths []int, all bool) {
	s.ids, s.loads = nil, nil
	if len(ids) == 0 {
		return
	}
	longest, equal := lengths[0], true
	for _, n := range lengths {
		equal = equal && n == lengths[0]
		longest = max(longest, n)
	}
	if equal && all {
		return
	}
	sum := 0
	for _, n := range lengths {
		sum += longest + 1 - n
		s.loads = append(s.loads, sum)
	}
	s.ids = append(s.ids, ids...)
}
