package storage

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
	"tidemark/model/kafka"
)

// dense is a configuration under which each batch but the first of a segment has an
// index entry, and a segment has more of them than are held back.
func dense() Config {
	c := DefaultConfig()
	c.SegmentBytes, c.IndexIntervalBytes = 4000, 0
	return c
}

// held is the number of entries that the file has not.
func (x *indexFile) held() int { return (len(x.data) - x.saved) / x.entry }

// heldNow is how many entries of the active segment's indexes memory alone has.
func heldNow(l *Log) [2]int { return [2]int{l.active().index.held(), l.active().times.held()} }

// ticking appends n batches as leader, each a millisecond younger than the one before.
func ticking(t failer, l *Log, n int) {
	t.Helper()
	for range n {
		now := kafka.Timestamp(1000 + l.LogEnd())
		if _, code, err := l.AppendAsLeader(batch(now, "x"), 1, now); code != kafka.None {
			t.Fatalf("append at %d: %s, %v", l.LogEnd(), code, err)
		}
	}
}

func TestIndexEntriesAreWrittenBySixteensAndWhenTheirSegmentIsFlushedOrEnds(t *testing.T) {
	w := newWorld(t)
	l := w.openAs(dense(), Opening{})
	for n := range 2*heldEntries + 3 {
		if want := max(n-1, 0) % heldEntries; heldNow(l) != [2]int{want, want} {
			t.Fatalf("after %d batches %d entries are held, want %d", n, heldNow(l), want)
		}
		ticking(t, l, 1)
	}
	l.Flush(nil)
	if heldNow(l) != [2]int{} {
		t.Fatalf("%d entries are held while a flush syncs the files", heldNow(l))
	}
	for len(l.segments) == 1 {
		audit(t, l)
		ticking(t, l, 1)
	}
	audit(t, l) // of a sealed segment too
	ticking(t, l, 3)
	stop(t, w, l)
	whole := [][]byte{l.active().index.data, l.active().times.data}
	l = w.openAs(dense(), Opening{Clean: true, RecoveryPoint: l.LogEnd()})
	if !bytes.Equal(l.active().index.data, whole[0]) || !bytes.Equal(l.active().times.data, whole[1]) {
		t.Fatal("a clean stop left other indexes than the log had")
	}
}

func TestAKillTakesHeldIndexEntriesAndTheStartMakesThemAnew(t *testing.T) {
	w := newWorld(t)
	l := w.openAs(dense(), Opening{})
	ticking(t, l, heldEntries+6)
	offsets, held := bytes.Clone(l.active().index.data), heldNow(l)
	w.kill()
	file := w.openIndex(t)
	if want := len(offsets) - held[0]*offsetEntrySize; held[0] == 0 || len(file) != want || !bytes.HasPrefix(offsets, file) {
		t.Fatalf("the kill left %d bytes of the index, want %d of %d", len(file), want, len(offsets))
	}
	l = w.openAs(dense(), Opening{})
	if !bytes.Equal(l.active().index.data, offsets) {
		t.Fatal("the start made another index")
	}
	audit(t, l)
}

// openIndex reads the first segment's index file.
func (w *world) openIndex(t *testing.T) []byte {
	t.Helper()
	f, err := w.fs.Open(dir + "/" + fileName(0, indexSuffix))
	if err != nil {
		t.Fatal(err)
	}
	b, err := readAll(f)
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	return b
}

func TestATruncationAmongHeldIndexEntriesLeavesTheFilesAlone(t *testing.T) {
	w := newWorld(t)
	l := w.openAs(dense(), Opening{})
	ticking(t, l, heldEntries+6)
	x := &l.active().index
	saved := x.saved
	if err := l.active().index.truncateTo(heldEntries + 3); err != nil || x.saved != saved || x.held() != 2 {
		t.Fatalf("%d bytes are saved, %d entries held: %v", x.saved, x.held(), err)
	}
	if err := x.truncateTo(heldEntries - 3); err != nil || x.saved != len(x.data) || len(w.openIndex(t)) != x.saved {
		t.Fatalf("%d bytes of %d are saved, the file has %d: %v", x.saved, len(x.data), len(w.openIndex(t)), err)
	}
}

func TestIndexesAreRightThroughWhateverHappensToThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newFrailWorld(t)
		l := w.openAs(dense(), Opening{})
		again := func(o Opening) {
			w.kill()
			l = w.openAs(dense(), o)
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) { ticking(t, l, rapid.IntRange(1, 20).Draw(t, "batches")) },
			"flush":  func(*rapid.T) { l.Flush(nil); w.drain() },
			"truncate": func(t *rapid.T) {
				if err := l.TruncateTo(kafka.Offset(rapid.Int64Range(0, int64(l.LogEnd())).Draw(t, "to"))); err != nil {
					t.Fatal(err)
				}
			},
			"kill": func(*rapid.T) { again(Opening{RecoveryPoint: l.RecoveryPoint()}) },
			"power": func(t *rapid.T) {
				point := l.RecoveryPoint()
				w.power(faultdisk.LoseRandom, rapid.Uint64().Draw(t, "seed"))
				l = w.openAs(dense(), Opening{RecoveryPoint: point})
			},
			"stop": func(*rapid.T) { stop(t, w, l); again(Opening{Clean: true, RecoveryPoint: l.LogEnd()}) },
			"":     func(t *rapid.T) { audit(t, l) },
		})
	})
}

func TestAnIndexThatCannotBeWrittenFailsTheFlushAndTheTruncation(t *testing.T) {
	for name, use := range map[string]func(*Log) error{
		"flush":      func(l *Log) (err error) { l.Flush(func(e error) { err = e }); return err },
		"truncation": func(l *Log) error { return l.TruncateTo(l.LogEnd() - 1) },
	} {
		w := newFrailWorld(t)
		l := w.openAs(dense(), Opening{})
		ticking(t, l, 5)
		w.disk.Faults().FailWrites(faultdisk.Target{Path: dir + "/*.index"}, false)
		if err := use(l); !errors.Is(err, disk.ErrIO) || !errors.Is(w.failed, disk.ErrIO) || l.RecoveryPoint() != 0 {
			t.Errorf("%s: %v, the owner was told %v, recovery point %d", name, err, w.failed, l.RecoveryPoint())
		}
	}
}
