package storage

import (
	"bytes"

	"pgregory.net/rapid"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// producer draws a producer and tells the last batch that it has in the log, nil
// if there is none, or none that the log must know of.
func (x *modelTest) producer(t *rapid.T) (id kafka.ProducerID, last record.Batch) {
	id = kafka.ProducerID(rapid.IntRange(1, 2).Draw(t, "producer"))
	if n := len(x.sent[id]); n > 0 && x.sent[id][n-1].LastOffset() >= x.m.start {
		last = x.sent[id][n-1]
	}
	return id, last
}

// next is the sequence that follows a producer's last batch; where it has none, or
// nobody knows of it, any is taken.
func (x *modelTest) next(id kafka.ProducerID) kafka.Sequence {
	if n := len(x.sent[id]); n > 0 {
		return x.sent[id][n-1].LastSequence().Add(1)
	}
	return 1<<31 - 4 // soon across the largest
}

// forget drops what a cut to end took.
func (x *modelTest) forget(end kafka.Offset) {
	for id, batches := range x.sent {
		for n := len(batches); n > 0 && batches[n-1].LastOffset() >= end; n-- {
			batches = batches[:n-1]
		}
		x.sent[id] = batches
	}
}

func (x *modelTest) Produce(t *rapid.T) {
	x.newEpoch(t)
	id, _ := x.producer(t)
	b := batch(1000+x.clock, x.values(t)...)
	b.SetProducer(id, 3, x.next(id))
	done, code, err := x.l.AppendAsLeader(b, x.epoch, 1000+x.clock)
	if code != kafka.None || err != nil || done.Duplicate {
		t.Fatalf("producer %d from sequence %d: %+v, %s, %v", id, b.BaseSequence(), done, code, err)
	}
	x.m.append(b)
	x.sent[id] = append(x.sent[id], bytes.Clone(b))
}

// Retry sends a batch again. The last one is always known; an older one may be
// forgotten, after a start, but is never appended twice.
func (x *modelTest) Retry(t *rapid.T) {
	id, last := x.producer(t)
	if last == nil {
		t.Skip("nothing to retry")
	}
	x.newEpoch(t)
	x.m.lead(x.epoch, x.m.end)
	again := x.sent[id][rapid.IntRange(max(0, len(x.sent[id])-7), len(x.sent[id])-1).Draw(t, "batch")]
	b := record.Batch(bytes.Clone(again))
	b.SetBaseOffset(0)
	done, code, err := x.l.AppendAsLeader(b, x.epoch, 1000+x.clock)
	there := code == kafka.None && done.Duplicate && done.First == again.BaseOffset() && done.Last == again.LastOffset()
	forgotten := code == kafka.OutOfOrderSequenceNumber && again.BaseOffset() != last.BaseOffset()
	if err != nil || !there && !forgotten {
		t.Fatalf("retry of %d to %d: %+v, %s, %v", again.BaseOffset(), again.LastOffset(), done, code, err)
	}
}

func (x *modelTest) Gap(t *rapid.T) {
	id, last := x.producer(t)
	if last == nil {
		t.Skip("any sequence is taken")
	}
	x.newEpoch(t)
	x.m.lead(x.epoch, x.m.end)
	b := batch(1000+x.clock, "lost its forerunner")
	b.SetProducer(id, 3, x.next(id).Add(int32(rapid.IntRange(1, 9).Draw(t, "gap"))))
	if done, code, err := x.l.AppendAsLeader(b, x.epoch, 1000+x.clock); code != kafka.OutOfOrderSequenceNumber || err != nil {
		t.Fatalf("%+v, %s, %v", done, code, err)
	}
}
