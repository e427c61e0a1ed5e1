package storage

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tidemark/disk"
	"tidemark/model/kafka"
)

// counted is a file system that knows which files hold a descriptor: those that are open,
// and those that were closed while a sync of them had not ended.
type counted struct {
	disk.FS
	w    *world
	open []*countedFile
}

type countedFile struct {
	disk.File
	closed bool
	syncs  []disk.Token
}

func (c *counted) file(f disk.File, err error) (disk.File, error) {
	if err != nil {
		return nil, err
	}
	x := &countedFile{File: f}
	c.open = append(c.open, x)
	return x, nil
}

func (c *counted) Open(name string) (disk.File, error)   { return c.file(c.FS.Open(name)) }
func (c *counted) Create(name string) (disk.File, error) { return c.file(c.FS.Create(name)) }
func (f *countedFile) Close() error                      { f.closed = true; return f.File.Close() }
func (f *countedFile) Sync(t disk.Token)                 { f.syncs = append(f.syncs, t); f.File.Sync(t) }

// held is the number of descriptors.
func (c *counted) held() int {
	waits := map[disk.Token]bool{}
	for _, d := range c.w.dues {
		waits[d.token] = true
	}
	c.open = slices.DeleteFunc(c.open, func(f *countedFile) bool {
		return f.closed && !slices.ContainsFunc(f.syncs, func(t disk.Token) bool { return waits[t] })
	})
	return len(c.open)
}

// passing is a log of tiny segments of which retention leaves about two.
func passing(t *testing.T, w *world, fs disk.FS) *Log {
	t.Helper()
	cfg := small()
	cfg.Delete, cfg.RetentionBytes = true, 2*int64(cfg.SegmentBytes)
	l, _, err := Open(fs, dir, cfg, Opening{TopicID: topicID, Syncs: w.syncs, Now: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// appendAndDelete is one append, by its leader or as a follower; then retention is at work. The
// caller awaits a flush if it is due.
func appendAndDelete(t *testing.T, w *world, l *Log, n int, follows bool) (waited bool) {
	t.Helper()
	var done Appended
	var err error
	if follows {
		set := append(replica(l.LogEnd(), 1, 1000, strings.Repeat("a", 150)), replica(l.LogEnd()+1, 1, 1000, strings.Repeat("b", 150))...)
		done, err = l.AppendAsFollower(set, 1)
	} else {
		done, _, err = l.AppendAsLeader(batch(1000, strings.Repeat("a", 150)), 1, 1000)
	}
	if err != nil || done.First == kafka.NoOffset {
		t.Fatalf("append %d: %v", n, err)
	}
	if done.FlushDue {
		for flushed := false; !flushed; {
			l.Flush(func(err error) { flushed = err == nil })
			for len(w.dues) > 0 && (!flushed || w.disk == nil) { // real files have no clock here
				w.complete(0)
			}
		}
	}
	l.SetHighWatermark(l.LogEnd())
	if _, err := l.DeleteOldSegments(1000); err != nil {
		t.Fatal(err)
	}
	return done.FlushDue
}

// mostHeld bounds the descriptors of a log that passes: three files of each segment that
// it has; of those that wait for their fsync a producer snapshot besides; the epoch file,
// and what one append of two batches brings.
const mostHeld = 3*4 + 4*(maxUnsyncedRolls+2) + 1

// A device that syncs slower than tiny segments are filled must not collect descriptors
// until there are none.
func TestRollsDoNotOutrunTheirFsyncs(t *testing.T) {
	for _, follows := range []bool{false, true} {
		w := newWorld(t)
		w.leaves = "" // when the ends of syncs come is another matter on real files
		fs := &counted{FS: w.fs, w: w}
		l := passing(t, w, fs)
		waits, most := 0, 0
		for n := range 1000 {
			if appendAndDelete(t, w, l, n, follows) {
				waits++
			}
			for w.disk != nil && len(w.dues) > 0 && w.dues[0].at <= w.now { // what the device has done by now
				w.complete(0)
			}
			most = max(most, fs.held())
		}
		if most > mostHeld || waits == 0 || l.Size() > 2000 {
			t.Errorf("%d descriptors were held, want at most %d; %d appends waited, %d bytes are left", most, mostHeld, waits, l.Size())
		}
		w.drain()
		audit(t, l)
		w.end()
	}
}

func TestNoAppendWaitsWhereFsyncsKeepUp(t *testing.T) {
	w, l := newLog(t)
	for n := range 200 {
		done, _, err := l.AppendAsLeader(batch(1000, "value"), 1, 1000)
		if err != nil || done.FlushDue {
			t.Fatalf("append %d waits after %d rolls: %v", n, l.rolls, err)
		}
		for len(w.dues) > 8*5 { // a roll asks for up to five syncs; a few rolls are behind
			w.complete(0)
		}
	}
	if len(l.segments) < 30 {
		t.Fatalf("%d segments", len(l.segments))
	}
}

// The same on real files, really synced, with the descriptors that the kernel counts.
func TestRollsOfRealFilesDoNotOutrunTheirFsyncs(t *testing.T) {
	if onRealFiles() {
		t.Skip("the other process has real files here as well")
	}
	root := t.TempDir()
	w := worldAt(t, root)
	defer w.end()
	l := passing(t, w, w.fs)
	waits, most := 0, 0
	for n := range 600 {
		if appendAndDelete(t, w, l, n, false) {
			waits++
		}
		most = max(most, descriptorsBelow(t, root))
	}
	// each directory sync that waits holds one too
	if limit := mostHeld + maxUnsyncedRolls + 2; most > limit || waits == 0 {
		t.Errorf("%d descriptors were open, want at most %d; %d appends waited", most, limit, waits)
	}
	t.Logf("%d descriptors, %d appends waited", most, waits)
}

// descriptorsBelow counts the files below a directory that this process has open.
func descriptorsBelow(t *testing.T, root string) (n int) {
	t.Helper()
	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(fds) == 0 {
		t.Skip("the system does not tell what is open")
	}
	for _, fd := range fds {
		if path, err := os.Readlink(fd); err == nil && strings.HasPrefix(path, root+"/") {
			n++
		}
	}
	return n
}
