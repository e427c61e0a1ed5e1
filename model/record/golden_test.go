package record_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/record"
)

// golden is a transactional batch of two records, written by hand from the
// format; its CRC comes from a bitwise CRC-32C outside this program.
var golden = unhex(`
	000000000000002a  base offset 42
	00000045          length 69
	00000005          leader epoch 5
	02                magic
	4206f397          crc
	0010              attributes: transactional
	00000001          last offset delta
	0000018bcfe56800  base timestamp 1700000000000
	0000018bcfe56807  max timestamp
	0000000000000fa1  producer id 4001
	0003              producer epoch
	0000000a          base sequence
	00000002          count
	18 00 00 00 026b 047631 02 0268 01  length 12, key k, value v1, one header h: null
	0c 00 0e 02 01 00 00                length 6, 7 ms later, key null, value empty
`)

// unhex reads the hex words at the start of each line.
func unhex(text string) []byte {
	var b strings.Builder
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		b.WriteString(strings.ReplaceAll(code, " ", ""))
	}
	out, err := hex.DecodeString(b.String())
	if err != nil {
		panic(err)
	}
	return out
}

func goldenBuilder() *record.Builder {
	w := record.NewBuilder(record.BuilderOptions{
		BaseOffset: 42, LeaderEpoch: 5, ProducerID: 4001, ProducerEpoch: 3, BaseSequence: 10, Transactional: true,
	})
	w.Append(1700000000000, []byte("k"), []byte("v1"), []record.Header{{Key: "h"}})
	w.Append(1700000000007, nil, []byte{}, nil)
	return w
}

func TestBuilderWritesTheBytesOfTheFormat(t *testing.T) {
	if diff := cmp.Diff(golden, []byte(goldenBuilder().Build())); diff != "" {
		t.Fatalf("batch (-want +got):\n%s", diff)
	}
}

func TestAccessorsReadTheBytesOfTheFormat(t *testing.T) {
	b, rest, err := record.Next(golden)
	if err != nil || len(rest) != 0 {
		t.Fatalf("Next: %d bytes rest, %v", len(rest), err)
	}
	if err := b.Check(); err != nil {
		t.Fatal(err)
	}
	got := []any{
		b.BaseOffset(), b.LastOffset(), b.NextOffset(), b.LeaderEpoch(), b.Magic(), b.CRC(), b.Compression(), b.TimestampType(),
		b.IsTransactional(), b.IsControl(), b.BaseTimestamp(), b.MaxTimestamp(), b.ProducerID(), b.ProducerEpoch(),
		b.BaseSequence(), b.LastSequence(), b.Count(),
	}
	want := []any{
		offset(42), offset(43), offset(44), epoch(5), int8(2), uint32(0x4206f397), record.None, record.CreateTime,
		true, false, timestamp(1700000000000), timestamp(1700000000007), producerID(4001), producerEpoch(3),
		sequence(10), sequence(11), int32(2),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("fields (-want +got):\n%s", diff)
	}
}

func TestIterationReadsNullsEmptyValuesAndHeaders(t *testing.T) {
	var got []record.Record
	err := record.Batch(golden).Each(func(r record.Record) error {
		r.Headers = append([]record.Header(nil), r.Headers...)
		got = append(got, r)
		return nil
	})
	want := []record.Record{
		{Offset: 42, Timestamp: 1700000000000, Key: []byte("k"), Value: []byte("v1"), Headers: []record.Header{{Key: "h"}}},
		{Offset: 43, Timestamp: 1700000000007, Value: []byte{}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("records (-want +got), error %v:\n%s", err, diff)
	}
}
