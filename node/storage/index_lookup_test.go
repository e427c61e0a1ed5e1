package storage

import (
	"testing"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/node"
)

// countingFS is nullFS that counts what is read.
type countingFS struct {
	nullFS
	reads, bytes *int
}

type countingFile struct {
	disk.File
	fs countingFS
}

func (fs countingFS) Create(string) (disk.File, error) {
	return countingFile{&nullFile{make([]byte, 0, 1<<20)}, fs}, nil
}

func (f countingFile) ReadAt(p []byte, off int64) (int, error) {
	*f.fs.reads++
	*f.fs.bytes += len(p)
	return f.File.ReadAt(p, off)
}

func TestALookUpReadsOnceAndNoFartherThanNeeded(t *testing.T) {
	for _, c := range []struct{ value, records, most int }{ // most: bytes for a look-up, on average
		{30, 1, 2400}, {950, 1, 3050}, {90, 10, 3300}, {20_000, 1, 61},
	} {
		fs := countingFS{reads: new(int), bytes: new(int)}
		l, _, err := Open(fs, dir, DefaultConfig(), Opening{Syncs: node.NewSyncs()})
		if err != nil {
			t.Fatal(err)
		}
		values := make([]string, c.records)
		for i := range values {
			values[i] = string(make([]byte, c.value))
		}
		for l.Size() < 400_000 {
			if _, code, err := l.AppendAsLeader(batch(1000, values...), 0, 1000); code != kafka.None {
				t.Fatal(code, err)
			}
		}
		for o := range l.LogEnd() {
			l.recent = recentPlaces{}
			*fs.reads = 0
			if s, err := l.Read(o, l.LogEnd(), 1, true); err != nil || s.First > o || s.First+kafka.Offset(c.records) <= o || *fs.reads != 1 {
				t.Fatalf("%d bytes: offset %d was found in the batch at %d, in %d reads: %v", c.value, o, s.First, *fs.reads, err)
			}
		}
		if mean := *fs.bytes / int(l.LogEnd()); mean > c.most {
			t.Errorf("%d records of %d bytes: a look-up reads %d bytes, want at most %d", c.records, c.value, mean, c.most)
		}
	}
}
