package storage

import (
	"testing"

	"pgregory.net/rapid"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// However a topic is configured, a batch of uncompressed records that is taken as a
// whole would have been taken record by record, and one that is not is refused for a
// record.
func TestBatchIsValidIfAllItsRecordsAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const now = 1_000_000
		l := &Log{}
		l.cfg.Compacted = rapid.Bool().Draw(t, "compacted")
		l.cfg.TimestampType = rapid.SampledFrom([]record.TimestampType{record.CreateTime, record.LogAppendTime}).Draw(t, "type")
		l.cfg.TimestampBeforeMaxMs = rapid.Int64Range(0, 200).Draw(t, "before")
		l.cfg.TimestampAfterMaxMs = rapid.Int64Range(0, 200).Draw(t, "after")
		w := record.NewBuilder(record.NoProducer())
		sound := true
		for range rapid.IntRange(1, 4).Draw(t, "records") {
			stamp := kafka.Timestamp(now + rapid.Int64Range(-300, 300).Draw(t, "stamp"))
			if rapid.IntRange(0, 9).Draw(t, "unstamped") == 0 {
				stamp = record.NoTimestamp
			}
			key := rapid.SampledFrom([][]byte{nil, {}, []byte("k")}).Draw(t, "key")
			w.Append(stamp, key, []byte("v"), nil)
		}
		b := w.Build()
		largest := record.NoTimestamp
		if err := b.Each(func(r record.Record) error {
			code, _ := l.validateRecord(b, r.Key == nil, r.Timestamp, now)
			sound = sound && code == kafka.None
			largest = max(largest, r.Timestamp)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if l.cfg.TimestampType == record.LogAppendTime {
			largest = now
		}
		v, code := l.validate(b, now)
		if (code == kafka.None) != sound || sound && v.largest != largest || !sound && len(v.invalid) == 0 {
			t.Fatalf("code %v, largest %d, %d invalid records; record by record: %v, largest %d", code, v.largest, len(v.invalid), sound, largest)
		}
	})
}
