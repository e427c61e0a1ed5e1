package storage

import (
	"slices"
	"strings"
	"testing"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

// losses is every disk that a power loss now may leave with one file, of any content,
// apart from what the page cache has.
func losses(t failer, w *world) (disks [][]simdisk.Content) {
	s := w.disk.Survey()
	all := chosen(s.Changes(), func(int) bool { return true })
	s.Close(all)
	var cached []simdisk.Content
	var ways [][][]byte
	for _, n := range s.Names(all) {
		if n.Dir {
			continue
		}
		bytes, err := w.disk.ReadFile(faultdisk.Cached, n.Name)
		if err != nil {
			t.Fatalf("%v", err)
		}
		contents, err := s.Contents(n.Inode)
		if err != nil {
			t.Fatalf("%v", err)
		}
		cached, ways = append(cached, simdisk.Content{Path: n.Name, Bytes: slices.Clone(bytes)}), append(ways, contents)
	}
	for i := range cached {
		for _, content := range ways[i] {
			files := slices.Clone(cached)
			files[i].Bytes = slices.Clone(content)
			disks = append(disks, files)
		}
	}
	return disks
}

// flushedAt is a log of one segment, with an aborted transaction, that was flushed as a
// whole.
func flushedAt(t *testing.T, c Config) (w *world, l *Log, point kafka.Offset) {
	w = surveyed(t)
	l = w.openAs(c, Opening{})
	lead(t, l, 1, 3)
	for _, b := range []record.Batch{transactional(9, 0, 0, 1), record.EndTransaction{Type: record.Abort, CoordinatorEpoch: 1}.Batch(9, 0, 1000)} {
		b.SetBaseOffset(l.LogEnd())
		b.SetLeaderEpoch(1)
		if _, err := l.AppendAsFollower(b, 1); err != nil {
			t.Fatal(err)
		}
	}
	l.Flush(nil)
	w.drain()
	return w, l, l.RecoveryPoint()
}

// roomy is a configuration under which one large batch more starts a new segment.
func roomy() Config {
	c := DefaultConfig()
	c.SegmentBytes, c.IndexIntervalBytes = 1000, 100
	return c
}

// A segment that ends at the recovery point may have been written since the flush: its
// time index by the roll, all of its indexes by a start that walked it before the roll.
func TestWhatARollOrAStartWroteBelowTheRecoveryPointIsMadeAnew(t *testing.T) {
	for _, restarted := range []bool{false, true} {
		w, l, point := flushedAt(t, roomy())
		if restarted {
			w.kill()
			l = w.openAs(roomy(), Opening{RecoveryPoint: point})
		}
		if _, code, err := l.AppendAsLeader(batch(1000, strings.Repeat("y", 700)), 1, 1000); code != kafka.None || err != nil || len(l.segments) != 2 {
			t.Fatalf("%s, %v, %d segments", code, err, len(l.segments))
		}
		for _, files := range losses(t, w) {
			w := loaded(t, files)
			l := w.openAs(roomy(), Opening{RecoveryPoint: point})
			audit(t, l)
			if l.LogEnd() < point {
				t.Fatalf("the log ends at %d, flushed was %d", l.LogEnd(), point)
			}
			if at, found, err := l.FindTimestamp(1000); at.Offset != 0 || !found || err != nil {
				t.Fatalf("the record at offset 0 is found at %+v %t, %v", at, found, err)
			}
			l.SetHighWatermark(l.LogEnd())
			if n, err := l.DeleteOldSegments(2000); n != 0 || err != nil {
				t.Fatalf("retention deletes %d segments of records that are 1 s old: %v", n, err)
			}
		}
	}
}

// A start cuts a torn end off, and the first append rolls right there. A power loss may
// undo the cut and leave what was appended.
func TestATornEndThatComesBackInFrontOfASegmentIsCutAgain(t *testing.T) {
	w, l, point := flushedAt(t, roomy())
	lead(t, l, 1, 1)
	w.edit(segmentPath(dir, 0)+logSuffix, func(f disk.File) error {
		err := write([]byte("?"), -5)(f)
		f.Sync(w.syncs.Token(func(error) {}))
		return err
	})
	w.drain()
	w.kill()
	l = w.openAs(roomy(), Opening{RecoveryPoint: point})
	if l.LogEnd() != point {
		t.Fatalf("the log ends at %d, and was torn at %d", l.LogEnd(), point)
	}
	if _, code, err := l.AppendAsLeader(batch(1000, strings.Repeat("y", 700)), 2, 1000); code != kafka.None || err != nil || len(l.segments) != 2 {
		t.Fatalf("%s, %v, %d segments", code, err, len(l.segments))
	}
	if l.RecoveryPoint() != 0 {
		t.Fatalf("recovery point %d while the cut of the segment from 0 on is not durable", l.RecoveryPoint())
	}
	whole, back := text(content(t, l)), 0
	for _, files := range losses(t, w) {
		w := loaded(t, files)
		l, rec, err := Open(w.fs, dir, roomy(), Opening{RecoveryPoint: point, Syncs: w.syncs, Now: 1000, Timers: w.timers})
		if err != nil {
			t.Fatal(err)
		}
		audit(t, l)
		if rec.CutPos > 0 && len(l.segments) == 2 {
			back++
			if got := text(content(t, l)); !slices.Equal(got, whole) || l.RecoveryPoint() != 0 {
				t.Fatalf("%+v, recovery point %d: the log has %v, want %v", rec, l.RecoveryPoint(), got, whole)
			}
			if o := l.LogEnd(); !isRun(whole, text(stored(t, l.segments))) || o != point+1 {
				t.Fatalf("%+v: the log ends at %d", rec, o)
			}
		}
		w.drain()
		if l.RecoveryPoint() < point {
			t.Fatalf("recovery point %d once the cut is durable, it was %d", l.RecoveryPoint(), point)
		}
	}
	if back == 0 {
		t.Fatal("no loss brought the torn end back")
	}
}

// DeleteRecords moves the log start over what was never flushed, and the recovery point
// with it in Kafka. The next start would believe an epoch file that was not written yet.
func TestARaisedLogStartVouchesForNothing(t *testing.T) {
	w := surveyed(t)
	l := w.openAs(small(), Opening{})
	for epoch := range kafka.LeaderEpoch(10) {
		if _, err := l.AppendAsFollower(replica(l.LogEnd(), epoch, 1000, "value"), epoch); err != nil {
			t.Fatal(err)
		}
	}
	l.SetHighWatermark(l.LogEnd())
	if err := l.RaiseLogStart(9); err != nil {
		t.Fatal(err)
	}
	point := l.RecoveryPoint()
	w.kill()
	l = w.openAs(small(), Opening{RecoveryPoint: point}) // the checkpoint of the log start is older
	audit(t, l)
	if point != 0 || len(l.Epochs().Entries()) != 10 {
		t.Fatalf("recovery point %d, epochs %v", point, l.Epochs().Entries())
	}
	w.drain()
	if err := l.RaiseLogStart(9); err != nil {
		t.Fatal(err)
	}
	done := false
	l.Flush(func(err error) { done = err == nil })
	w.drain()
	if !done || l.RecoveryPoint() != 10 {
		t.Fatalf("flushed %t, recovery point %d", done, l.RecoveryPoint())
	}
}
