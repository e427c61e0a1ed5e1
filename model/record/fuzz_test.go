package record_test

import (
	"bytes"
	"errors"
	"runtime/metrics"
	"testing"

	"tidemark/model/record"
)

// allocated is what this process ever allocated, bytes.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// FuzzBatch feeds any bytes to what reads batches from disks and peers: each
// must come out as batches, or as one of the errors, and never as a panic. Records that
// can be read come back from a batch that is built of them. No length in the bytes takes
// more memory than what a batch may hold.
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
			before := allocated()
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
			if n := allocated() - before; n > 3*record.MaxInflated {
				t.Fatalf("%d bytes of memory for a batch of %d", n, len(b))
			}
			if err == nil && len(b) < 4096 {
				rebuild(t, b)
			}
		}
	})
}

// rebuild builds a batch of the records of b, which must have them.
func rebuild(t *testing.T, b record.Batch) {
	t.Helper()
	w := record.NewBuilder(record.BuilderOptions{BaseOffset: b.BaseOffset(), LeaderEpoch: b.LeaderEpoch(), ProducerID: b.ProducerID(),
		ProducerEpoch: b.ProducerEpoch(), BaseSequence: b.BaseSequence()})
	type kept struct {
		key, value []byte
		headers    int
	}
	var all []kept
	size := 0
	must(t, b.Each(func(r record.Record) error {
		if size += len(r.Key) + len(r.Value); size < 1<<20 {
			w.Append(r.Timestamp, bytes.Clone(r.Key), bytes.Clone(r.Value), r.Headers)
			all = append(all, kept{bytes.Clone(r.Key), bytes.Clone(r.Value), len(r.Headers)})
		}
		return nil
	}))
	if len(all) == 0 {
		return
	}
	again := w.Build()
	must(t, again.Check())
	i := 0
	must(t, again.Each(func(r record.Record) error {
		if k := all[i]; !bytes.Equal(r.Key, k.key) || !bytes.Equal(r.Value, k.value) || (r.Key == nil) != (k.key == nil) || len(r.Headers) != k.headers {
			t.Fatalf("record %d comes back as %q=%q, was %q=%q", i, r.Key, r.Value, k.key, k.value)
		}
		i++
		return nil
	}))
	if i != len(all) {
		t.Fatalf("%d records of %d come back", i, len(all))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
