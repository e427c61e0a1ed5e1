package storage

import (
	"encoding/binary"
	"testing"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
	"tidemark/node"
)

// instantFS is a nullFS whose syncs complete when they are asked for.
type instantFS struct {
	nullFS
	syncs *node.Syncs
	due   *[]disk.Token
}

type instantFile struct {
	nullFile
	due *[]disk.Token
}

func (f instantFS) Create(string) (disk.File, error) {
	return &instantFile{nullFile{make([]byte, 0, 1<<20)}, f.due}, nil
}
func (f instantFS) Rename(string, string) error    { return nil }
func (f instantFS) SyncDir(t disk.Token, _ string) { *f.due = append(*f.due, t) }
func (f *instantFile) Sync(t disk.Token)           { *f.due = append(*f.due, t) }

func (f *instantFile) WriteAt(p []byte, o int64) (int, error) {
	if end := int(o) + len(p); end > cap(f.data) {
		f.data = append(make([]byte, 0, 2*end), f.data...)
	}
	return f.nullFile.WriteAt(p, o)
}

type benchHost struct{ l *Log }

func (h benchHost) CleanerLogs() []*Log                      { return []*Log{h.l} }
func (h benchHost) CheckpointRecoveryPoint(_ *Log, f func()) { f() }
func (h benchHost) Cleaned(*Log, CleanerStats)               {}
func (h benchHost) CleanerWake()                             {}

// BenchmarkClean is a pass over 32 MiB of records of 100 bytes, of whose keys each
// comes four times; bytes are those of the log, which are read twice.
func BenchmarkClean(b *testing.B) {
	for _, codec := range []record.Codec{record.None, record.LZ4} {
		b.Run(codec.String(), func(b *testing.B) { benchClean(b, codec) })
	}
}

func benchClean(b *testing.B, codec record.Codec) {
	const batches, perBatch = 3000, 100
	var due []disk.Token
	for b.Loop() {
		b.StopTimer()
		syncs := node.NewSyncs()
		due = due[:0]
		cfg := DefaultConfig()
		cfg.SegmentBytes, cfg.Compacted = 8<<20, true
		l, _, err := Open(instantFS{syncs: syncs, due: &due}, dir, cfg, Opening{Syncs: syncs})
		if err != nil {
			b.Fatal(err)
		}
		drain := func() {
			for len(due) > 0 {
				t := due[0]
				due = due[1:]
				syncs.Synced(t, nil)
			}
		}
		value := make([]byte, 70)
		for i := range batches {
			w := record.NewBuilder(record.NoProducer())
			for k := range perBatch {
				w.Append(kafka.Timestamp(1000+i), binary.BigEndian.AppendUint64(nil, uint64((i*perBatch+k)%(batches*perBatch/4))), value, nil)
			}
			if _, code, err := l.AppendAsLeader(w.BuildCompressed(new(record.Deflater), codec), 1, 1000); code != kafka.None || err != nil {
				b.Fatal(code, err)
			}
			drain()
		}
		if err := l.roll(l.end); err != nil {
			b.Fatal(err)
		}
		drain()
		l.SetHighWatermark(l.end)
		c := NewCleaner(CleanerConfig{DedupeBufferBytes: 128 << 20, LoadFactor: 900_000, IOBufferBytes: 256 << 10, BackoffMs: 1, MaxBytesPerSecond: 1 << 60},
			rules.Current().Cleaner, benchHost{l})
		b.SetBytes(l.Size())
		b.StartTimer()
		for l.CleanedUpTo() == 0 {
			c.Step(5000)
			drain()
		}
	}
}
