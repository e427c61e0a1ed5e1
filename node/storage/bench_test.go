package storage

import (
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
)

// nullFS is a file system that costs nothing: files are byte slices, syncs
// never complete.
type nullFS struct{ disk.FS }

type nullFile struct{ data []byte }

func (nullFS) List(string) ([]string, error)          { return nil, nil }
func (nullFS) Open(string) (disk.File, error)         { return nil, disk.ErrNotExist }
func (nullFS) Create(string) (disk.File, error)       { return &nullFile{make([]byte, 0, 64<<20)}, nil }
func (nullFS) Remove(string) error                    { return nil }
func (nullFS) SyncDir(disk.Token, string)             {}
func (f *nullFile) Truncate(n int64) error            { f.data = f.data[:n]; return nil }
func (f *nullFile) Size() (int64, error)              { return int64(len(f.data)), nil }
func (f *nullFile) Sync(disk.Token)                   {}
func (f *nullFile) Region(o int64, n int) disk.Region { return disk.Region{Src: f, Off: o, N: n} }
func (f *nullFile) Close() error                      { return nil }
func (f *nullFile) Retain()                           {}
func (f *nullFile) Release()                          {}

func (f *nullFile) WriteAt(p []byte, o int64) (int, error) {
	if end := int(o) + len(p); end > len(f.data) {
		if end > cap(f.data) {
			return 0, disk.ErrNoSpace
		}
		f.data = f.data[:end]
	}
	return copy(f.data[o:], p), nil
}

func (f *nullFile) ReadAt(p []byte, o int64) (int, error) {
	if n := copy(p, f.data[o:]); n < len(p) {
		return n, io.EOF
	}
	return len(p), nil
}

func (f *nullFile) ReadRegion(p []byte, o int64) error {
	_, err := f.ReadAt(p, o)
	return err
}

func benchLog(b testing.TB) *Log {
	cfg := DefaultConfig()
	cfg.SegmentBytes = 32 << 20
	l, _, err := Open(nullFS{}, dir, cfg, Opening{Syncs: node.NewSyncs()})
	if err != nil {
		b.Fatal(err)
	}
	return l
}

func benchBatch() record.Batch {
	w := record.NewBuilder(record.NoProducer())
	for range 10 {
		w.Append(1000, nil, make([]byte, 100), []record.Header{{Key: "attempt", Value: make([]byte, 8)}})
	}
	return w.Build()
}

func BenchmarkLeaderAppend(b *testing.B) {
	l := benchLog(b)
	batch := benchBatch()
	b.SetBytes(int64(len(batch)))
	b.ReportAllocs()
	for b.Loop() {
		batch.SetBaseOffset(0)
		if _, code, err := l.AppendAsLeader(batch, 1, 1000); code != kafka.None || err != nil {
			b.Fatal(code, err)
		}
		if l.Size() > 31<<20 {
			b.StopTimer()
			l = benchLog(b)
			b.StartTimer()
		}
	}
}

func BenchmarkFollowerAppend(b *testing.B) {
	l := benchLog(b)
	var set []byte
	for range 10 {
		set = append(set, benchBatch()...)
	}
	b.SetBytes(int64(len(set)))
	b.ReportAllocs()
	for b.Loop() {
		next := l.LogEnd()
		for rest := set; len(rest) > 0; next += 10 {
			var x record.Batch
			x, rest, _ = record.Next(rest)
			x.SetBaseOffset(next)
		}
		if _, err := l.AppendAsFollower(set, 1); err != nil {
			b.Fatal(err)
		}
		if l.Size() > 31<<20 {
			b.StopTimer()
			l = benchLog(b)
			b.StartTimer()
		}
	}
}

// BenchmarkRead reads in order, as a consumer that lags: each read needs the
// offset index and a scan.
func BenchmarkRead(b *testing.B) {
	l := benchLog(b)
	for range 10000 {
		if _, code, err := l.AppendAsLeader(benchBatch(), 1, 1000); code != kafka.None || err != nil {
			b.Fatal(code, err)
		}
	}
	var from kafka.Offset
	b.ReportAllocs()
	for b.Loop() {
		slice, err := l.Read(from, l.LogEnd(), 1<<14, true)
		if err != nil || slice.Bytes == 0 {
			b.Fatal(slice, err)
		}
		slice.Region.Release()
		from = (from + 70) % (l.LogEnd() - 100)
	}
}

// BenchmarkLookUp finds small batches at random offsets on a file system that costs
// nothing but the copy.
func BenchmarkLookUp(b *testing.B) {
	l := benchLog(b)
	w := record.NewBuilder(record.NoProducer())
	w.Append(1000, nil, make([]byte, 32), nil)
	batch := w.Build()
	const batches = 400_000
	for range batches {
		batch.SetBaseOffset(0)
		if _, code, err := l.AppendAsLeader(batch, 1, 1000); code != kafka.None || err != nil {
			b.Fatal(code, err)
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	b.ReportAllocs()
	for b.Loop() {
		slice, err := l.Read(kafka.Offset(random.Int64N(batches)), l.LogEnd(), 1, true)
		if err != nil || slice.Bytes == 0 {
			b.Fatal(slice, err)
		}
		slice.Region.Release()
	}
}

// BenchmarkReadAtEnd reads what was appended last, as a follower does.
func BenchmarkReadAtEnd(b *testing.B) {
	l := benchLog(b)
	batch := benchBatch()
	if _, code, err := l.AppendAsLeader(batch, 1, 1000); code != kafka.None || err != nil {
		b.Fatal(code, err)
	}
	b.ReportAllocs()
	for b.Loop() {
		slice, err := l.Read(l.LogEnd()-10, l.LogEnd(), 1<<14, true)
		if err != nil || slice.Bytes == 0 {
			b.Fatal(errors.Join(err))
		}
		slice.Region.Release()
	}
}

func TestAnAppendOfAKnownProducerAllocatesNothing(t *testing.T) {
	l, _, err := Open(nullFS{}, dir, DefaultConfig(), Opening{Syncs: node.NewSyncs()})
	if err != nil {
		t.Fatal(err)
	}
	next := kafka.Sequence(0)
	b := benchBatch()
	send := func() {
		b.SetBaseOffset(0)
		b.SetProducer(7, 0, next)
		next = next.Add(b.Count())
		if _, code, err := l.AppendAsLeader(b, 0, 1000); code != kafka.None || err != nil {
			t.Fatal(code, err)
		}
	}
	send()
	if n := testing.AllocsPerRun(500, send); n > 0 {
		t.Errorf("%v allocations for each append", n)
	}
}
