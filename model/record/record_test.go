package record_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

type (
	offset        = kafka.Offset
	epoch         = kafka.LeaderEpoch
	timestamp     = kafka.Timestamp
	producerID    = kafka.ProducerID
	producerEpoch = kafka.ProducerEpoch
	sequence      = kafka.Sequence
)

var nullable = rapid.OneOf(rapid.Just([]byte(nil)), rapid.SliceOfN(rapid.Byte(), 0, 200))

var headers = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) record.Header {
	return record.Header{Key: rapid.StringN(0, 6, 20).Draw(t, "key"), Value: nullable.Draw(t, "value")}
}), 0, 3)

var records = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) record.Record {
	return record.Record{
		Timestamp: timestamp(rapid.Int64Range(0, 1<<60).Draw(t, "timestamp")),
		Key:       nullable.Draw(t, "key"), Value: nullable.Draw(t, "value"), Headers: headers.Draw(t, "headers"),
	}
}), 1, 8)

var options = rapid.Custom(func(t *rapid.T) record.BuilderOptions {
	return record.BuilderOptions{
		BaseOffset:    offset(rapid.Int64Range(0, 1<<62).Draw(t, "offset")),
		LeaderEpoch:   epoch(rapid.Int32().Draw(t, "epoch")),
		ProducerID:    producerID(rapid.Int64().Draw(t, "producer")),
		ProducerEpoch: producerEpoch(rapid.Int16().Draw(t, "producer epoch")),
		BaseSequence:  sequence(rapid.Int32().Draw(t, "sequence")),
		Transactional: rapid.Bool().Draw(t, "transactional"),
		Control:       rapid.Bool().Draw(t, "control"),
	}
})

// kmsgRecords encodes records with franz-go's codec, written apart from ours.
func kmsgRecords(in []record.Record) []byte {
	var out []byte
	for i, r := range in {
		k := kmsg.Record{TimestampDelta64: int64(r.Timestamp - in[0].Timestamp), OffsetDelta: int32(i), Key: r.Key, Value: r.Value}
		for _, h := range r.Headers {
			k.Headers = append(k.Headers, kmsg.Header{Key: h.Key, Value: h.Value})
		}
		k.Length = int32(len(k.AppendTo(nil)) - 1) // without the one byte that a zero length takes
		out = k.AppendTo(out)
	}
	return out
}

func build(o record.BuilderOptions, in []record.Record) *record.Builder {
	w := record.NewBuilder(o)
	for _, r := range in {
		w.Append(r.Timestamp, r.Key, r.Value, r.Headers)
	}
	return w
}

func collect(t interface{ Fatal(...any) }, b record.Batch) (out []record.Record) {
	err := b.Each(func(r record.Record) error {
		r.Headers = slices.Clone(r.Headers)
		out = append(out, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBuilderAgreesWithAnIndependentCodec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, in := options.Draw(t, "options"), records.Draw(t, "records")
		got := build(o, in).Build()
		var k kmsg.RecordBatch
		if err := k.ReadFrom(got); err != nil {
			t.Fatal(err)
		}
		last := timestamp(0)
		for _, r := range in {
			last = max(last, r.Timestamp)
		}
		attributes := int16(0)
		if o.Transactional {
			attributes |= 1 << 4
		}
		if o.Control {
			attributes |= 1 << 5
		}
		want := kmsg.RecordBatch{
			FirstOffset: int64(o.BaseOffset), Length: int32(len(got) - 12), PartitionLeaderEpoch: int32(o.LeaderEpoch), Magic: 2,
			CRC: k.CRC, Attributes: attributes, LastOffsetDelta: int32(len(in) - 1), FirstTimestamp: int64(in[0].Timestamp),
			MaxTimestamp: int64(last), ProducerID: int64(o.ProducerID), ProducerEpoch: int16(o.ProducerEpoch),
			FirstSequence: int32(o.BaseSequence), NumRecords: int32(len(in)), Records: kmsgRecords(in),
		}
		if diff := cmp.Diff(want, k); diff != "" {
			t.Fatalf("batch (-franz-go +ours):\n%s", diff)
		}
	})
}

func TestRecordsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, in := options.Draw(t, "options"), records.Draw(t, "records")
		w := build(o, in)
		size := w.Size()
		b := w.Build()
		if err := b.Check(); err != nil || size != len(b) {
			t.Fatalf("size %d of %d bytes, %v", size, len(b), err)
		}
		want := slices.Clone(in)
		sum := record.Overhead
		for i := range want {
			r := &want[i]
			r.Offset = o.BaseOffset + offset(i)
			if len(r.Headers) == 0 {
				r.Headers = nil
			}
			sum += record.SizeOf(int32(i), int64(r.Timestamp-in[0].Timestamp), r.Key, r.Value, r.Headers)
		}
		if diff := cmp.Diff(want, collect(t, b)); diff != "" {
			t.Fatalf("records (-want +got):\n%s", diff)
		}
		if sum != size {
			t.Fatalf("SizeOf adds up to %d, the batch has %d bytes", sum, size)
		}
		if one := record.UpperBound(in[0].Key, in[0].Value, in[0].Headers); build(o, in[:1]).Size() > one {
			t.Fatalf("a batch of one record has %d bytes, over its bound %d", build(o, in[:1]).Size(), one)
		}
	})
}

func TestDamageUnderTheCRCIsFound(t *testing.T) {
	for i := 21; i < len(golden); i++ {
		for bit := range 8 {
			b := record.Batch(bytes.Clone(golden))
			b[i] ^= 1 << bit
			if err := b.Check(); !errors.Is(err, record.ErrCorrupt) {
				t.Fatalf("byte %d bit %d: Check gives %v", i, bit, err)
			}
		}
	}
}

func TestDamageToOffsetAndLeaderEpochIsNotFound(t *testing.T) {
	for _, i := range []int{0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15} {
		b := record.Batch(bytes.Clone(golden))
		b[i] ^= 0x40
		if err := b.Check(); err != nil {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
}

func TestDamageToLengthMagicAndCRCIsFound(t *testing.T) {
	for _, i := range []int{8, 9, 10, 11, 16, 17, 18, 19, 20} {
		b := record.Batch(bytes.Clone(golden))
		b[i] ^= 0x01
		if err := b.Check(); !errors.Is(err, record.ErrCorrupt) {
			t.Fatalf("byte %d: Check gives %v", i, err)
		}
	}
}

func TestABatchCutAtAnyByteIsTruncated(t *testing.T) {
	for n := range len(golden) {
		if _, rest, err := record.Next(golden[:n]); !errors.Is(err, record.ErrTruncated) || len(rest) != n {
			t.Fatalf("%d bytes: %d bytes rest, %v", n, len(rest), err)
		}
	}
}

func TestBytesThatCannotBeginABatchAreCorrupt(t *testing.T) {
	small, old := bytes.Clone(golden), bytes.Clone(golden)
	copy(small[8:], []byte{0, 0, 0, 48})
	old[16] = 1
	for _, b := range [][]byte{small, old, make([]byte, 100)} {
		if _, _, err := record.Next(b); !errors.Is(err, record.ErrCorrupt) {
			t.Fatalf("Next gives %v", err)
		}
	}
}

func TestNextWalksBackToBackBatches(t *testing.T) {
	buf := append(bytes.Clone(golden), golden...)
	buf = append(buf, golden[:30]...)
	whole := 0
	for {
		b, rest, err := record.Next(buf)
		if err != nil {
			if whole != 2 || len(rest) != 30 {
				t.Fatalf("stopped after %d batches with %d bytes: %v", whole, len(rest), err)
			}
			return
		}
		whole++
		if buf = rest; !bytes.Equal(b, golden) {
			t.Fatalf("batch %d differs", whole)
		}
	}
}

func TestRecordsThatDoNotDecodeAreCorrupt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := record.Batch(bytes.Clone(golden))
		i := rapid.IntRange(57, len(b)-1).Draw(t, "byte")
		b[i] = rapid.Byte().Draw(t, "value")
		if bytes.Equal(b, golden) {
			return
		}
		// Either the damage is in the bytes that a record carries, or it is found.
		n := 0
		err := b.Each(func(record.Record) error { n++; return nil })
		if err != nil && !errors.Is(err, record.ErrCorrupt) {
			t.Fatalf("error %v", err)
		}
		if err == nil && n != int(b.Count()) {
			t.Fatalf("%d records in a batch of %d", n, b.Count())
		}
	})
	tooMany := record.Batch(bytes.Clone(golden))
	tooMany[60] = 3
	tooFew := record.Batch(bytes.Clone(golden))
	tooFew[60] = 1
	for _, b := range []record.Batch{tooMany, tooFew} {
		if err := b.Each(func(record.Record) error { return nil }); !errors.Is(err, record.ErrCorrupt) {
			t.Fatalf("count %d over two records: %v", b.Count(), err)
		}
	}
}

func TestCodecThatKafkaDoesNotHaveGivesAClearError(t *testing.T) {
	b := record.Batch(bytes.Clone(golden))
	b[22] |= 5
	err := b.Each(func(record.Record) error { return nil })
	if !errors.Is(err, record.ErrCompressed) {
		t.Fatalf("%s: %v", b.Compression(), err)
	}
	if got, want := err.Error(), "cannot read compressed records: the batch at offset 42 uses codec 5"; got != want {
		t.Fatalf("error %q, want %q", got, want)
	}
}

func TestLeaderStampsKeepTheCRCAndTimestampsRenewIt(t *testing.T) {
	b := record.Batch(bytes.Clone(golden))
	b.SetBaseOffset(1000)
	b.SetLeaderEpoch(7)
	b.SetMaxTimestamp(b.MaxTimestamp(), record.CreateTime)
	if b.CRC() != record.Batch(golden).CRC() || b.BaseOffset() != 1000 || b.LeaderEpoch() != 7 || b.Check() != nil {
		t.Fatalf("crc %08x, offset %d, epoch %d, %v", b.CRC(), b.BaseOffset(), b.LeaderEpoch(), b.Check())
	}
	b.SetMaxTimestamp(1800000000000, record.LogAppendTime)
	if b.CRC() == record.Batch(golden).CRC() || b.Check() != nil {
		t.Fatalf("crc %08x: %v", b.CRC(), b.Check())
	}
	for _, r := range collect(t, b) {
		if r.Timestamp != 1800000000000 {
			t.Fatalf("record %d of a LogAppendTime batch has timestamp %d", r.Offset, r.Timestamp)
		}
	}
}

func TestSequencesGoOnFromZeroAfterTheLargest(t *testing.T) {
	o := record.NoProducer()
	o.BaseSequence = 1<<31 - 1
	in := make([]record.Record, 3)
	if got := build(o, in).Build().LastSequence(); got != 1 {
		t.Fatalf("last sequence %d, want 1", got)
	}
	if got := build(record.NoProducer(), in).Build().LastSequence(); got != record.NoSequence {
		t.Fatalf("last sequence %d of a batch without sequence", got)
	}
}

func TestABuilderCanBeUsedAgain(t *testing.T) {
	w := goldenBuilder()
	w.Build()
	w.Reset(record.NoProducer())
	w.Append(5, nil, []byte("x"), nil)
	fresh := record.NewBuilder(record.NoProducer())
	fresh.Append(5, nil, []byte("x"), nil)
	if diff := cmp.Diff([]byte(fresh.Build()), []byte(w.Build())); diff != "" {
		t.Fatalf("batch (-fresh +reused):\n%s", diff)
	}
}

func TestBuildingAndWalkingAllocateNothing(t *testing.T) {
	w := goldenBuilder()
	var it record.Iterator
	value, h := []byte("value"), []record.Header{{Key: "attempt", Value: []byte("12345678")}}
	n := testing.AllocsPerRun(100, func() {
		w.Reset(record.NoProducer())
		w.Append(1, nil, value, h)
		w.Append(2, value, nil, h)
		for it.Reset(w.Build()); it.Next(); {
			if len(it.Record().Headers) != 1 {
				t.Fatal("a header is missing")
			}
		}
	})
	if n != 0 || it.Err() != nil {
		t.Fatalf("%v allocations, %v", n, it.Err())
	}
}
