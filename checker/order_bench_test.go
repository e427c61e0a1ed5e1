package checker

import (
	"testing"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// BenchmarkSweep judges the order of a million records, which 50 producers had
// acknowledged and a reader has read.
func BenchmarkSweep(b *testing.B) {
	const records, producers = 1_000_000, 50
	f := newFacts()
	seq := uint64(0)
	observe := func(k event.Kind, set func(*event.Event)) {
		seq++
		e := event.New(k)
		e.Seq, e.Topic, e.Client, e.Acks = seq, "t", "p", -1
		set(&e)
		f.observe(&e)
	}
	read := event.New(event.PollOK)
	read.Topic, read.Client, read.Offset, read.End = "t", "c", 0, records
	for i := range records + producers {
		if i < records {
			observe(event.SendInvoke, func(e *event.Event) { e.Attempt, e.Hash = uint64(i+1), uint64(i+1) })
			read.Records = append(read.Records, event.Record{Offset: kafka.Offset(i), Attempt: uint64(i + 1), Hash: uint64(i + 1)})
		}
		// The one that was sent `producers` sends ago ends: all overlap.
		if done := (i - producers) ^ 7; i >= producers && done < records {
			observe(event.SendOK, func(e *event.Event) {
				e.Attempt, e.Hash, e.Offset = uint64(done+1), uint64(done+1), kafka.Offset(done)
			})
		}
	}
	read.Seq = seq + 1
	f.observe(&read)
	rd := f.history.reading(kafka.TopicPartition{Topic: "t"})
	b.Run("gather", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rd.order, rd.log = nil, nil
			f.orderOf(rd)
		}
	})
	b.Run("sweep", func(b *testing.B) {
		for b.Loop() {
			if checks := f.orderOf(rd).sweep(nil, func(_, _ *place) { b.Fatal("a legal history is out of order") }); checks != records {
				b.Fatal(checks)
			}
		}
	})
}
