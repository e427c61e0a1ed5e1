package record_test

import (
	"testing"

	"pgregory.net/rapid"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// walked is a batch's extent as an Iterator finds it.
func walked(b record.Batch) (e record.Extent, ok bool) {
	e.Earliest, e.Latest = 1<<63-1, -1<<63
	err := b.Each(func(r record.Record) error {
		e.Earliest, e.Latest = min(e.Earliest, r.Timestamp), max(e.Latest, r.Timestamp)
		e.Keyless = e.Keyless || r.Key == nil
		return nil
	})
	return e, err == nil
}

func TestExtentOfASoundBatchIsThatOfItsRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := record.NewBuilder(options.Draw(t, "options"))
		for _, r := range records.Draw(t, "records") {
			w.Append(r.Timestamp, r.Key, r.Value, r.Headers)
		}
		b := w.Build()
		want, _ := walked(b)
		if got, ok := b.Extent(); !ok || got != want {
			t.Fatalf("%+v, %v, want %+v", got, ok, want)
		}
	})
}

func TestExtentOfADamagedBatchIsNoneOrThatOfItsRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := record.NewBuilder(record.NoProducer())
		for _, r := range records.Draw(t, "records") {
			w.Append(r.Timestamp, r.Key, r.Value, r.Headers)
		}
		b := w.Build()
		for range rapid.IntRange(1, 3).Draw(t, "bytes") {
			b[rapid.IntRange(record.Overhead, len(b)-1).Draw(t, "place")] = rapid.Byte().Draw(t, "byte")
		}
		got, ok := b.Extent()
		want, sound := walked(b)
		if ok && (!sound || got != want) {
			t.Fatalf("%+v, an Iterator finds %+v, %v", got, want, sound)
		}
	})
}

func TestBatchesThatAreNotPlainHaveNoExtent(t *testing.T) {
	stamped := sample(3).Build()
	stamped.SetMaxTimestamp(1, record.LogAppendTime)
	for name, b := range map[string]record.Batch{
		"compressed": compressed(record.LZ4, sample(3)),
		"stamped":    stamped,
		"empty":      sample(3).Build().Emptied(),
	} {
		if e, ok := b.Extent(); ok {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestExtentOfLongOffsetDeltasAndManyHeaders(t *testing.T) {
	w := record.NewBuilder(record.NoProducer())
	for i := range 20_000 { // offset deltas of one, two and three bytes
		w.Append(kafka.Timestamp(1000+i%7), []byte("k"), []byte("v"), []record.Header{{Key: "a"}, {Key: "b", Value: []byte("c")}})
	}
	want := record.Extent{Earliest: 1000, Latest: 1006}
	if got, ok := w.Build().Extent(); !ok || got != want {
		t.Fatalf("%+v, %v, want %+v", got, ok, want)
	}
}
