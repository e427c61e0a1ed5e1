package record

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/kafka"
)

func five(typ TimestampType) *Builder {
	w := NewBuilder(BuilderOptions{BaseOffset: 100, LeaderEpoch: 3, TimestampType: typ, ProducerID: 7, ProducerEpoch: 2, BaseSequence: 40, Transactional: true})
	for i, key := range []string{"a", "b", "c", "d", "e"} {
		w.Append(kafka.Timestamp(5000-i), []byte(key), []byte("value"), []Header{{Key: "h", Value: []byte{byte(i)}}})
	}
	return w
}

func kept(t *testing.T, b Batch) (out []Record) {
	t.Helper()
	err := b.Each(func(r Record) error {
		r.Key, r.Value, r.Headers = slices.Clone(r.Key), slices.Clone(r.Value), slices.Clone(r.Headers)
		out = append(out, r)
		return nil
	})
	if err != nil || b.Check() != nil {
		t.Fatalf("%v, %v", err, b.Check())
	}
	return out
}

func retain(b Batch, horizon kafka.Timestamp, deltas ...kafka.Offset) Batch {
	w := new(Builder)
	w.ResetTo(b, horizon)
	_ = b.Each(func(r Record) error {
		if slices.Contains(deltas, r.Offset-b.BaseOffset()) {
			w.Retain(r)
		}
		return nil
	})
	return w.BuildCompressed(new(Deflater), b.Compression())
}

func TestWhatIsKeptOfABatchKeepsItsOffsetsItsSequencesAndItsCodec(t *testing.T) {
	for c := None; c <= Zstd; c++ {
		b := five(CreateTime).BuildCompressed(new(Deflater), c)
		all := kept(t, b)
		got := retain(b, NoTimestamp, 1, 3)
		if d := cmp.Diff([]Record{all[1], all[3]}, kept(t, got)); d != "" {
			t.Errorf("%s: records differ (-want +got):\n%s", c, d)
		}
		if got.BaseOffset() != 100 || got.LastOffset() != 104 || got.Count() != 2 || got.Compression() != c {
			t.Errorf("%s: offsets %d to %d, %d records, codec %s", c, got.BaseOffset(), got.LastOffset(), got.Count(), got.Compression())
		}
		if got.ProducerID() != 7 || got.ProducerEpoch() != 2 || got.BaseSequence() != 40 || got.LastSequence() != 44 || got.LeaderEpoch() != 3 || !got.IsTransactional() {
			t.Errorf("%s: producer %d epoch %d sequences %d to %d, leader epoch %d", c, got.ProducerID(), got.ProducerEpoch(), got.BaseSequence(), got.LastSequence(), got.LeaderEpoch())
		}
		if _, stamped := got.DeleteHorizon(); stamped || got.MaxTimestamp() != 4999 || got.BaseTimestamp() != 4999 {
			t.Errorf("%s: stamped %t, timestamps %d to %d", c, stamped, got.BaseTimestamp(), got.MaxTimestamp())
		}
	}
}

func TestADeleteHorizonTakesTheBaseTimestampAndNoRecordChangesItsOwn(t *testing.T) {
	for _, typ := range []TimestampType{CreateTime, LogAppendTime} {
		b := five(typ).Build()
		b.SetMaxTimestamp(9000, typ)
		before := kept(t, b)
		got := retain(b, 86_400_000, 0, 1, 2, 3, 4)
		horizon, stamped := got.DeleteHorizon()
		if !stamped || horizon != 86_400_000 || got.BaseTimestamp() != 86_400_000 {
			t.Errorf("%s: horizon %d %t", typ, horizon, stamped)
		}
		if d := cmp.Diff(before, kept(t, got)); d != "" {
			t.Errorf("%s: records differ (-want +got):\n%s", typ, d)
		}
		again := retain(got, horizon, 2)
		if h, ok := again.DeleteHorizon(); !ok || h != horizon || kept(t, again)[0].Timestamp != before[2].Timestamp {
			t.Errorf("%s: a second pass leaves horizon %d %t, record at %d", typ, h, ok, kept(t, again)[0].Timestamp)
		}
	}
	b := five(LogAppendTime).Build()
	b.SetMaxTimestamp(9000, LogAppendTime)
	if got := retain(b, NoTimestamp, 2); got.MaxTimestamp() != 9000 || got.TimestampType() != LogAppendTime {
		t.Errorf("the leader's time became %d, %s", got.MaxTimestamp(), got.TimestampType())
	}
}

func TestAnEmptiedBatchKeepsItsPlaceAlone(t *testing.T) {
	b := retain(five(CreateTime).BuildCompressed(new(Deflater), LZ4), 77_000, 0, 1)
	e := b.Emptied()
	if len(e) != Overhead || e.Check() != nil || e.Count() != 0 || len(kept(t, e)) != 0 {
		t.Fatalf("%d bytes, %v, %d records", len(e), e.Check(), e.Count())
	}
	if e.BaseOffset() != 100 || e.LastOffset() != 104 || e.LastSequence() != 44 || e.ProducerID() != 7 || !e.IsTransactional() || e.LeaderEpoch() != 3 {
		t.Errorf("offsets %d to %d, sequence %d of producer %d", e.BaseOffset(), e.LastOffset(), e.LastSequence(), e.ProducerID())
	}
	if _, stamped := e.DeleteHorizon(); stamped || e.Compression() != None || e.BaseTimestamp() != NoTimestamp || e.MaxTimestamp() != b.MaxTimestamp() {
		t.Errorf("stamped %t, codec %s, timestamps %d, %d", stamped, e.Compression(), e.BaseTimestamp(), e.MaxTimestamp())
	}
	if &e[0] == &b[0] || b.Count() != 2 {
		t.Error("the batch itself was changed")
	}
}
