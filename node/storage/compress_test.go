package storage

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

var everyCodec = []record.Codec{record.None, record.Gzip, record.Snappy, record.LZ4, record.Zstd}

// written is a batch of an idempotent producer with n records, from timestamp
// 1000 on.
func written(c record.Codec, n int) record.Batch {
	o := record.NoProducer()
	o.ProducerID, o.ProducerEpoch, o.BaseSequence = 7, 1, 0
	w := record.NewBuilder(o)
	for i := range n {
		w.Append(kafka.Timestamp(1000+i), []byte("key"), []byte(fmt.Sprintf("value %d of many that are alike", i)),
			[]record.Header{{Key: "h", Value: []byte{byte(i)}}})
	}
	return w.BuildCompressed(new(record.Deflater), c)
}

// recordsOf lists the records of a batch.
func recordsOf(t *testing.T, b record.Batch) (out []string) {
	t.Helper()
	err := b.Each(func(r record.Record) error {
		out = append(out, fmt.Sprintf("%d %d %q %q %v", r.Offset, r.Timestamp, r.Key, r.Value, r.Headers))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBatchKeepsTheBytesOfItsProducerUnlessTheTopicNamesAnotherCodec(t *testing.T) {
	for _, sent := range everyCodec {
		for _, asked := range append([]record.Codec{record.Codec(99)}, everyCodec...) {
			_, l := newLog(t)
			cfg := DefaultConfig()
			cfg.Recompress, cfg.Codec = asked != 99, asked
			l.SetConfig(cfg)
			lead(t, l, 1, 3)
			before := written(sent, 20)
			if _, code, err := l.AppendAsLeader(bytes.Clone(before), 1, 2000); code != kafka.None || err != nil {
				t.Fatalf("%v under compression.type %v: %v, %v", sent, asked, code, err)
			}
			stored := content(t, l)[3]
			want := bytes.Clone(before)
			if cfg.codecFor(before) != sent {
				want = written(asked, 20)
			}
			record.Batch(want).SetBaseOffset(3)
			record.Batch(want).SetLeaderEpoch(1)
			if !bytes.Equal(want, stored) {
				t.Fatalf("%v under compression.type %v: stored batch has codec %v, %d bytes, want %d", sent, asked, stored.Compression(), len(stored), len(want))
			}
			audit(t, l)
		}
	}
}

// oddDeltas is a compressed batch whose records count their offsets 0, 2, 4,
// under a header of three records: no honest producer writes it.
func oddDeltas(t *testing.T) record.Batch {
	t.Helper()
	plain := bytes.Clone(written(record.None, 3))
	at := record.Overhead
	for i := range 3 {
		size := int(plain[at]) / 2    // a zigzag varint of one byte
		plain[at+3] = byte(2 * i * 2) // after length, attributes and timestamp delta
		at += 1 + size
	}
	return bareSnappy(t, plain)
}

func TestCompressedRecordsWithOddOffsetsAreRebuilt(t *testing.T) {
	_, l := newLog(t)
	l.SetConfig(DefaultConfig())
	if _, code, err := l.AppendAsLeader(oddDeltas(t), 1, 2000); code != kafka.None || err != nil {
		t.Fatalf("%v, %v", code, err)
	}
	stored := content(t, l)[0]
	if diff := cmp.Diff(recordsOf(t, written(record.None, 3)), recordsOf(t, stored)); diff != "" || stored.Compression() != record.Snappy {
		t.Fatalf("codec %v, records (-want +got):\n%s", stored.Compression(), diff)
	}
	if l.LogEnd() != 3 {
		t.Fatalf("log end %d, want 3", l.LogEnd())
	}
}

// bareSnappy puts the records of an uncompressed batch, as they are, into one
// snappy block that is a single literal.
func bareSnappy(t *testing.T, plain record.Batch) record.Batch {
	t.Helper()
	records := plain[record.Overhead:]
	if len(records) >= 1<<14 || len(records) < 128 {
		t.Fatalf("%d bytes of records do not fit the varint below", len(records))
	}
	b := bytes.Clone(plain[:record.Overhead])
	b[22] |= byte(record.Snappy)
	b = append(b, byte(len(records))|0x80, byte(len(records)>>7)) // size, a varint of two bytes
	b = append(b, 61<<2, byte(len(records)-1), byte((len(records)-1)>>8))
	b = append(b, records...)
	length := len(b) - record.LogOverhead
	copy(b[8:12], []byte{0, 0, byte(length >> 8), byte(length)})
	record.Batch(b).SetMaxTimestamp(0, record.CreateTime) // renews the CRC
	return b
}

func TestSizeIsCheckedAgainAfterARebuild(t *testing.T) {
	_, l := newLog(t)
	cfg := DefaultConfig()
	b := written(record.Zstd, 50)
	cfg.MaxMessageBytes = int32(len(b))
	cfg.Recompress, cfg.Codec = true, record.None
	l.SetConfig(cfg)
	if _, code, _ := l.AppendAsLeader(b, 1, 2000); code != kafka.MessageTooLarge || l.LogEnd() != 0 {
		t.Fatalf("%v, log end %d", code, l.LogEnd())
	}
}

func TestTimestampIsFoundInsideACompressedBatch(t *testing.T) {
	_, l := newLog(t)
	l.SetConfig(DefaultConfig())
	for i, c := range everyCodec {
		b := written(c, 20)
		b.SetProducer(7, 1, kafka.Sequence(20*i))
		if _, code, err := l.AppendAsLeader(b, 1, 2000); code != kafka.None || err != nil {
			t.Fatal(code, err)
		}
	}
	if err := l.RaiseLogStart(35); err != nil {
		t.Fatal(err)
	}
	found, ok, err := l.FindTimestamp(1010)
	if diff := cmp.Diff(TimestampOffset{1015, 35, 1}, found); diff != "" || !ok || err != nil {
		t.Fatalf("%v, %v, (-want +got):\n%s", ok, err, diff)
	}
}

func TestCompressedRecordThatBreaksARuleIsNamedByItsPlace(t *testing.T) {
	_, l := newLog(t)
	cfg := DefaultConfig()
	cfg.TimestampBeforeMaxMs = 100
	l.SetConfig(cfg)
	done, code, _ := l.AppendAsLeader(written(record.LZ4, 20), 1, 1102)
	if code != kafka.InvalidTimestamp || len(done.Invalid) != 2 || done.Invalid[1].Index != 1 {
		t.Fatalf("%v, %v", code, done.Invalid)
	}
}
