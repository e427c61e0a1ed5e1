package producer

import (
	"slices"
	"time"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// batch is the records of one partition that travel together.
type batch struct {
	queue   *queue
	builder *record.Builder
	bytes   record.Batch    // once built; never written again, as requests read it
	first   kafka.Timestamp // of the first record
	limit   int             // bytes that it may grow to
	memory  int64           // bytes of buffer.memory that it holds
	dones   []func(Result)  // by record
	closed  bool            // takes no more records

	created     time.Duration
	lastAttempt time.Duration // creation, or when the last attempt ended
	attempts    int           // attempts that ended with a retriable error
	backoff     time.Duration // pause after lastAttempt; void if the leader epoch rose
	sentEpoch   kafka.LeaderEpoch
	divided     bool // result of a split

	as         identity       // with idempotence: who sends it, once numbered
	base       kafka.Sequence // of the first record; NoSequence before
	renumbered bool           // since it was sent last

	ended bool // its senders know; the request may still be in flight
}

func newBatch(q *queue, limit int, memory int64, now time.Duration) *batch {
	return &batch{queue: q, builder: record.NewBuilder(record.NoProducer()), limit: limit, memory: memory,
		created: now, lastAttempt: now, sentEpoch: kafka.NoEpoch, as: noIdentity, base: record.NoSequence}
}

// append adds a record if there is room; the first record always has it.
func (b *batch) append(ts kafka.Timestamp, r *Record, done func(Result)) bool {
	n := b.builder.Count()
	if b.closed {
		return false
	}
	if n == 0 {
		b.first = ts
	} else if b.builder.Size()+record.SizeOf(int32(n), int64(ts-b.first), r.Key, r.Value, r.Headers) > b.limit {
		b.closed = true
		return false
	}
	b.builder.Append(ts, r.Key, r.Value, r.Headers)
	b.dones = append(b.dones, done)
	return true
}

func (b *batch) full() bool { return b.closed || b.builder.Size() >= b.limit }

// build returns the batch's bytes: the same records for each attempt.
func (b *batch) build() record.Batch {
	if b.bytes == nil {
		b.closed = true
		b.bytes = b.queue.compressor.build(b.builder)
	}
	return b.bytes
}

// seal returns the batch's bytes with its present numbers, for an attempt.
// Requests still read the ones that an earlier attempt was sent with.
func (b *batch) seal() record.Batch {
	fresh := b.bytes == nil
	bytes := b.build()
	if bytes.ProducerID() != b.as.id || bytes.ProducerEpoch() != b.as.epoch || bytes.BaseSequence() != b.base {
		if !fresh {
			bytes = slices.Clone(bytes)
		}
		bytes.SetProducer(b.as.id, b.as.epoch, b.base)
		b.bytes = bytes
	}
	b.renumbered = false
	return bytes
}

// numbered tells that the batch has sequences.
func (b *batch) numbered() bool { return b.base != record.NoSequence }

// count is the number of records.
func (b *batch) count() int32 { return int32(len(b.dones)) }

func (b *batch) size() int { return b.builder.Size() }

// backingOff reports whether the pause after a failed attempt is still on. A
// new leader voids it: waiting was for the old one (KIP-580).
func (b *batch) backingOff(now time.Duration, known kafka.LeaderEpoch) bool {
	return b.attempts > 0 && now-b.lastAttempt < b.backoff && known <= b.sentEpoch
}

func (b *batch) expired(now, deliveryTimeout time.Duration) bool {
	return now-b.created >= deliveryTimeout
}

// split divides a batch that the leader found too large. The parts keep the
// records' order and the batch's age. A part that was itself too large is
// halved, as the limit of batch.size already failed (KAFKA-8350).
func (b *batch) split(batchSize int) []*batch {
	limit := batchSize
	if b.divided {
		limit = max(b.largestRecord(), b.size()/2)
	}
	var parts []*batch
	i := 0
	b.each(func(r record.Record) {
		rec := Record{Key: r.Key, Value: r.Value, Headers: r.Headers}
		if len(parts) == 0 || !parts[len(parts)-1].append(r.Timestamp, &rec, b.dones[i]) {
			part := newBatch(b.queue, limit, 0, b.created)
			part.divided = true
			part.append(r.Timestamp, &rec, b.dones[i])
			parts = append(parts, part)
		}
		i++
	})
	for _, part := range parts {
		part.closed = true
		part.memory = int64(part.size())
	}
	return parts
}

// largestRecord is the size in bytes of a batch of the largest record alone.
func (b *batch) largestRecord() int {
	n := 0
	b.each(func(r record.Record) {
		n = max(n, record.Overhead+record.SizeOf(0, 0, r.Key, r.Value, r.Headers))
	})
	return n
}

func (b *batch) each(f func(record.Record)) {
	err := b.build().Each(func(r record.Record) error {
		f(r)
		return nil
	})
	if err != nil {
		panic("a batch that this producer built does not decode: " + err.Error())
	}
}
