package record_test

import (
	"testing"

	"tidemark/model/record"
)

func BenchmarkBuild(b *testing.B) {
	value := make([]byte, 100)
	w := record.NewBuilder(record.NoProducer())
	b.ReportAllocs()
	for b.Loop() {
		w.Reset(record.NoProducer())
		for range 100 {
			w.Append(1, nil, value, nil)
		}
		w.Build()
	}
	b.SetBytes(int64(w.Size()))
}

func BenchmarkIterate(b *testing.B) {
	w := record.NewBuilder(record.NoProducer())
	for range 100 {
		w.Append(1, nil, make([]byte, 100), nil)
	}
	batch := w.Build()
	var it record.Iterator
	b.SetBytes(int64(len(batch)))
	b.ReportAllocs()
	for b.Loop() {
		for it.Reset(batch); it.Next(); {
			_ = it.Record()
		}
	}
}

// BenchmarkExtent is what a leader pays for the records of a batch.
func BenchmarkExtent(b *testing.B) {
	w := record.NewBuilder(record.NoProducer())
	for range 100 {
		w.Append(1, nil, make([]byte, 100), nil)
	}
	batch := w.Build()
	b.SetBytes(int64(len(batch)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := batch.Extent(); !ok {
			b.Fatal("the batch is sound")
		}
	}
}
