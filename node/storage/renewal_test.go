package storage

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tidemark/disk/faultdisk"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

// oddities are what may be wrong with the indexes of the second of several segments that
// lie below the recovery point.
var oddities = map[string]func(w *world) error{
	"no index":                     func(w *world) error { return w.fs.Remove(secondSegment + indexSuffix) },
	"an odd index":                 odd(indexSuffix),
	"an odd time index":            odd(timeSuffix),
	"an odd transaction index":     odd(txnSuffix),
	"an index that points too far": func(w *world) error { w.edit(secondSegment+indexSuffix, write([]byte{0x7f}, -4)); return nil },
	"no transaction index either": func(w *world) error {
		odd(indexSuffix)(w)
		return w.fs.Remove(secondSegment + txnSuffix)
	},
	"no index, and an odd time one": func(w *world) error { odd(timeSuffix)(w); return w.fs.Remove(secondSegment + indexSuffix) },
}

func odd(kind string) func(w *world) error {
	return func(w *world) error { w.edit(secondSegment+kind, shorten(1)); return nil }
}

// oddLog is a flushed log on a disk where something is wrong with the indexes of the
// second segment, durably; want is what they held.
func oddLog(t *testing.T, damage func(w *world) error) (w *world, end kafka.Offset, want map[string][]byte) {
	t.Helper()
	w, l := newFrailLog(t)
	lead(t, l, 1, 6)
	inTransaction(t, l, 7, 0, 0, "t=1", "u=1")
	abort(t, l)
	lead(t, l, 1, 12)
	l.Flush(nil)
	w.drain()
	if len(l.segments) < 4 || l.segments[1].base != 5 || l.segments[1].txns.count() != 1 || l.segments[1].index.count() == 0 {
		t.Fatalf("%d segments, the second from %d", len(l.segments), l.segments[1].base)
	}
	want = indexFiles(t, w)
	w.kill()
	if err := damage(w); err != nil {
		t.Fatal(err)
	}
	w.power(faultdisk.LoseNone, 0)
	return w, l.LogEnd(), want
}

func abort(t failer, l *Log) { end(t, l, 7, 0, record.Abort, kafka.None) }

// indexFiles is the content of every index file of the second segment.
func indexFiles(t *testing.T, w *world) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	names, err := w.fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if !strings.HasPrefix(dir+"/"+n, secondSegment) || strings.HasSuffix(n, logSuffix) || strings.HasSuffix(n, snapshotSuffix) {
			continue
		}
		if files[n], err = ReadFile(w.fs, dir+"/"+n); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func equalFiles(t *testing.T, when string, want, got map[string][]byte) {
	t.Helper()
	for n := range want {
		if !bytes.Equal(got[n], want[n]) {
			t.Fatalf("%s: %s is\n%x, want\n%x", when, n, got[n], want[n])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d files, want %d", when, len(got), len(want))
	}
}

// A part of an index can look like a whole one, and the next start trusts what lies below
// the recovery point. So one that is made anew there takes its name only once it is
// durable, and a flush vouches for it.
func TestIndexesMadeAnewBelowTheRecoveryPointAreWholeAfterAnyCrash(t *testing.T) {
	for name, damage := range oddities {
		for _, clean := range []bool{false, true} {
			crashed := true
			for n := 1; crashed; n++ {
				for seed := range uint64(3) {
					if skipped(n) {
						continue
					}
					w, end, want := oddLog(t, damage)
					w.crashAt = n
					crashed = w.until(func() {
						l, _ := w.open(clean, end, 0)
						l.Flush(nil)
						w.drain()
					})
					when := fmt.Sprintf("%s, clean %t, crash at %d, seed %d", name, clean, n, seed)
					w.leaves = t.Name() + ": " + when
					loss := faultdisk.LoseRandom
					if seed == 0 || !crashed {
						loss = faultdisk.LoseAll
					}
					if !crashed {
						w.leaves = "" // on real files another n is the first that is too large
					}
					w.power(loss, seed)
					if !crashed {
						equalFiles(t, when+", after a flush", want, indexFiles(t, w))
					}
					l, _ := w.open(false, end, 0)
					audit(t, l)
					w.drain()
					equalFiles(t, when, want, indexFiles(t, w))
					w.end()
					if !crashed {
						break
					}
				}
			}
		}
	}
}

func TestNoFlushEndsBeforeIndexesThatWereMadeAnewAreDurable(t *testing.T) {
	for name, damage := range oddities {
		w, end, want := oddLog(t, damage)
		l, _ := w.open(false, end, 0)
		flushed := false
		l.Flush(func(err error) {
			flushed = err == nil
			for n := range want {
				if got, err := w.disk.ReadFile(faultdisk.Durable, dir+"/"+n); err != nil || !bytes.Equal(got, want[n]) {
					t.Errorf("%s: the flush has ended, and on the device %s is\n%x, want\n%x; %v", name, n, got, want[n], err)
				}
			}
		})
		for i := 0; len(w.dues) > 0; i++ {
			w.complete(len(w.dues) - 1)
		}
		if !flushed {
			t.Errorf("%s: the flush does not end", name)
		}
		w.end()
	}
}

// While its new indexes are on their way to their names, a segment can be cut, deleted
// and appended to like any other.
func TestASegmentWhoseIndexesAreMadeAnewIsLikeAnyOther(t *testing.T) {
	for name, damage := range oddities {
		for what, change := range map[string]func(t *testing.T, l *Log){
			"cut": func(t *testing.T, l *Log) {
				if err := l.TruncateTo(7); err != nil {
					t.Fatal(err)
				}
				lead(t, l, 3, 9)
			},
			"cut away": func(t *testing.T, l *Log) {
				if err := l.TruncateTo(4); err != nil {
					t.Fatal(err)
				}
				lead(t, l, 3, 9)
			},
			"cut where it begins": func(t *testing.T, l *Log) {
				if err := l.TruncateTo(5); err != nil {
					t.Fatal(err)
				}
				lead(t, l, 3, 9)
			},
			"deleted": func(t *testing.T, l *Log) {
				if err := l.RaiseLogStart(l.segments[2].base); err != nil {
					t.Fatal(err)
				}
				retain(t, l, 2)
			},
			"all cut": func(t *testing.T, l *Log) {
				if err := l.TruncateFullyAndStartAt(5); err != nil {
					t.Fatal(err)
				}
				lead(t, l, 3, 9)
			},
		} {
			for delivered := range 6 {
				if onRealFiles() && delivered != 3 {
					continue
				}
				w, end, _ := oddLog(t, damage)
				w.leaves = fmt.Sprintf("%s: %s, %s after %d syncs", t.Name(), name, what, delivered)
				l, _ := w.open(true, end, 0)
				for range min(delivered, len(w.dues)) {
					w.complete(0)
				}
				change(t, l)
				audit(t, l)
				flushed := false
				l.Flush(func(err error) { flushed = err == nil })
				w.drain()
				audit(t, l)
				names, err := w.fs.List(dir)
				if err != nil || !flushed || l.RecoveryPoint() != l.LogEnd() || slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, tmpSuffix) }) {
					t.Fatalf("%s, %s after %d syncs: flushed %t, recovery point %d of %d, %v, %v", name, what, delivered, flushed, l.RecoveryPoint(), l.LogEnd(), names, err)
				}
				point, start := l.RecoveryPoint(), l.LogStart()
				w.power(faultdisk.LoseAll, 0)
				l, rec := w.open(false, point, start)
				if l.LogEnd() != point || rec.CutAt != kafka.NoOffset {
					t.Fatalf("%s, %s after %d syncs: the log ends at %d, want %d", name, what, delivered, l.LogEnd(), point)
				}
				audit(t, l)
				w.end()
			}
		}
	}
}
