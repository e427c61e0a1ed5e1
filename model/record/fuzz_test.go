package record_test

import (
	"errors"
	"testing"

	"tidemark/model/record"
)

// FuzzBatch feeds any bytes to what reads batches from disks and peers: each
// must come out as batches, or as one of the errors, and never as a panic.
func FuzzBatch(f *testing.F) {
	f.Add(golden)
	f.Add(golden[:70])
	for _, c := range codecs {
		f.Add([]byte(compressed(c, sample(3))))
	}
	f.Add([]byte(record.LeaderChange{Leader: 1, Voters: []record.Voter{{ID: 1}}}.Batch(0, 1, 2)))
	f.Fuzz(func(t *testing.T, buf []byte) {
		for len(buf) > 0 {
			b, rest, err := record.Next(buf)
			if err != nil {
				if !errors.Is(err, record.ErrCorrupt) && !errors.Is(err, record.ErrTruncated) {
					t.Fatalf("Next: %v", err)
				}
				return
			}
			buf = rest
			err = b.Each(func(r record.Record) error {
				if typ, err := record.ParseControl(r.Key); err == nil && typ == record.LeaderChanged {
					_, err = record.ParseLeaderChange(r.Value)
					if err != nil && !errors.Is(err, record.ErrCorrupt) {
						t.Fatalf("ParseLeaderChange: %v", err)
					}
				}
				return nil
			})
			if err != nil && !errors.Is(err, record.ErrCorrupt) && !errors.Is(err, record.ErrCompressed) {
				t.Fatalf("Each: %v", err)
			}
		}
	})
}
