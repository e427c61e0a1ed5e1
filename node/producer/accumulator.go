package producer

import (
	"slices"
	"strings"
	"time"

	"tidemark/model/kafka"
)

// queue is the batches of one partition that are not in flight, oldest first.
type queue struct {
	tp      kafka.TopicPartition
	batches []*batch
	muted   bool // a batch is in flight and order must be kept

	sequencer sequencer // of a producer with idempotence

	compressor *compressor
}

// last is the batch that takes records; nil if there is none.
func (q *queue) last() *batch {
	if len(q.batches) == 0 {
		return nil
	}
	return q.batches[len(q.batches)-1]
}

// full reports whether no batch waits for more records.
func (q *queue) full() bool { return q.last() == nil || q.last().full() }

// requeue puts a batch, or the parts of one, back for another attempt: in order
// of sequences. Without them the front is the place that least disturbs the order.
func (q *queue) requeue(batches ...*batch) {
	i := 0
	for i < len(q.batches) && q.sequencer.before(q.batches[i], batches[0]) {
		i++
	}
	q.batches = slices.Insert(q.batches, i, batches...)
}

// topicQueues are the queues of one topic.
type topicQueues struct {
	name   string
	queues []*queue // by partition number; nil before its first record
	open   int      // queues that are not nil
	sticky sticky

	compressor *compressor
}

func (t *topicQueues) queue(partition int32) *queue {
	for int(partition) >= len(t.queues) {
		t.queues = append(t.queues, nil)
	}
	if t.queues[partition] == nil {
		t.queues[partition] = &queue{tp: kafka.TopicPartition{Topic: t.name, Partition: partition}, compressor: t.compressor,
			sequencer: newSequencer()}
		t.open++
	}
	return t.queues[partition]
}

// accumulator holds the records that are not in flight: Kafka's
// RecordAccumulator.
type accumulator struct {
	cfg    Config
	topics []*topicQueues // by name
	memory int64          // bytes of buffer.memory in use, batches in flight included
	// starved tells that a record waits for memory: then every batch may go.
	starved    bool
	compressor compressor
}

func (a *accumulator) topic(name string) *topicQueues {
	i, ok := slices.BinarySearchFunc(a.topics, name, func(t *topicQueues, name string) int { return strings.Compare(t.name, name) })
	if !ok {
		a.topics = slices.Insert(a.topics, i, &topicQueues{name: name, sticky: sticky{batchSize: a.cfg.BatchSize}, compressor: &a.compressor})
	}
	return a.topics[i]
}

// add appends a record of at most upperBound bytes to its partition's queue and
// returns the bytes by which that grew. It fails if a batch is needed for which
// there is no memory.
func (a *accumulator) add(q *queue, r *Record, upperBound int, ts kafka.Timestamp, now time.Duration, done func(Result)) (int, bool) {
	if b := q.last(); b != nil {
		before := b.size()
		if b.append(ts, r, done) {
			return b.size() - before, true
		}
	}
	limit := max(a.cfg.BatchSize, upperBound)
	if a.memory+int64(limit) > a.cfg.BufferMemory {
		return 0, false
	}
	a.memory += int64(limit)
	b := newBatch(q, limit, int64(limit), now)
	b.append(ts, r, done)
	q.batches = append(q.batches, b)
	return b.size(), true
}

// release gives the memory of a batch back.
func (a *accumulator) release(b *batch) {
	a.memory -= b.memory
	b.memory = 0
}

// each visits every queue, by topic and partition.
func (a *accumulator) each(f func(*topicQueues, *queue)) {
	for _, t := range a.topics {
		for _, q := range t.queues {
			if q != nil {
				f(t, q)
			}
		}
	}
}

// takeExpired removes and returns the batches that waited too long; in a queue
// the oldest come first.
func (a *accumulator) takeExpired(now time.Duration) []*batch {
	var expired []*batch
	a.each(func(_ *topicQueues, q *queue) {
		for len(q.batches) > 0 && q.batches[0].expired(now, a.cfg.DeliveryTimeout) {
			expired = append(expired, q.batches[0])
			q.batches = q.batches[1:]
		}
	})
	return expired
}
