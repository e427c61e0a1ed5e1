package storage

import (
	"fmt"
	"slices"
	"testing"

	"tidemark/disk/faultdisk"
	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
)

// remover is a log of segments of five records that loses its first ones, and what
// the checkpoints tell if they are written whenever something happens.
type remover struct {
	t     *testing.T
	w     *world
	l     *Log // nil while a start is under way
	cut   kafka.Offset
	point kafka.Offset
	start kafka.Offset // 0: there is no line
	old   kafka.Offset // the one before
	told  kafka.Offset // the log start when the line was written, or not
	seen  map[string]bool
}

// filled appends n records, which are durable then.
func (r *remover) filled(n int) {
	lead(r.t, r.l, 1, n)
	r.l.Flush(nil)
	r.w.drain()
}

// retainNothing lets retention take all records.
func (r *remover) retainNothing() {
	c := r.l.Config()
	c.RetentionBytes = 0
	r.l.SetConfig(c)
	r.l.SetHighWatermark(r.l.LogEnd())
	_, err := r.l.DeleteOldSegments(1000)
	r.must(err)
}

// deleteTo is what DeleteRecords leads to.
func (r *remover) deleteTo(o kafka.Offset) {
	r.l.SetHighWatermark(r.l.LogEnd())
	r.must(r.l.RaiseLogStart(o))
	_, err := r.l.DeleteOldSegments(1000)
	r.must(err)
}

func (r *remover) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// removals are the ways to lose the segments in front of, or around, the one that
// becomes the first.
var removals = []struct {
	name    string
	cut     kafka.Offset // that the log is truncated to; NoOffset: it is not
	before  func(*remover)
	removal func(*remover)
}{
	{"retention of everything", kafka.NoOffset,
		func(r *remover) { r.filled(4) },
		func(r *remover) { r.retainNothing() }},
	{"retention of everything, nothing of it flushed", kafka.NoOffset,
		func(r *remover) { lead(r.t, r.l, 1, 4) },
		func(r *remover) { r.retainNothing() }},
	{"retention while names of a truncation become durable", 7,
		func(r *remover) { r.filled(12) },
		func(r *remover) { r.must(r.l.TruncateTo(7)); r.retainNothing() }},
	{"deletion up to a segment that was just rolled", kafka.NoOffset,
		func(r *remover) { r.filled(13) },
		func(r *remover) { lead(r.t, r.l, 1, 4); r.deleteTo(15) }},
	{"deletion up to the inside of a segment that was just rolled", kafka.NoOffset,
		func(r *remover) { r.filled(13) },
		func(r *remover) { lead(r.t, r.l, 1, 5); r.deleteTo(17) }},
	{"deletion inside the only segment, nothing flushed", kafka.NoOffset,
		func(r *remover) { lead(r.t, r.l, 1, 4) },
		func(r *remover) { r.deleteTo(3) }},
	{"a new beginning above the log", 40,
		func(r *remover) { r.filled(13) },
		func(r *remover) { r.must(r.l.TruncateFullyAndStartAt(40)) }},
	{"a new beginning below the log", 3,
		func(r *remover) { r.must(r.l.TruncateFullyAndStartAt(10)); r.filled(7) },
		func(r *remover) { r.must(r.l.TruncateTo(3)) }},
	{"a new beginning where a segment begins", 5,
		func(r *remover) { r.filled(13) },
		func(r *remover) { r.must(r.l.TruncateFullyAndStartAt(5)) }},
	{"a new beginning where the only segment begins", 10,
		func(r *remover) { r.must(r.l.TruncateFullyAndStartAt(10)); r.filled(3) },
		func(r *remover) { r.must(r.l.TruncateFullyAndStartAt(10)) }},
	{"a new beginning where a deleted segment waits", 5,
		func(r *remover) { r.filled(13) },
		func(r *remover) { lead(r.t, r.l, 1, 4); r.deleteTo(15); r.must(r.l.TruncateTo(5)) }},
	{"a new beginning where all that is durable waits", 10,
		func(r *remover) { r.must(r.l.TruncateFullyAndStartAt(10)); r.filled(3) },
		func(r *remover) { r.retainNothing(); r.must(r.l.TruncateTo(10)) }},
	{"a new beginning while a deleted segment waits for a sync", 40,
		func(r *remover) { r.filled(13) },
		func(r *remover) { r.deleteTo(12); r.must(r.l.TruncateFullyAndStartAt(40)) }},
	{"a start that finds the log below its start", kafka.NoOffset,
		func(r *remover) { r.filled(4); r.w.kill(); r.l = nil },
		func(r *remover) { r.start = 7; r.l, _ = r.w.open(false, r.point, r.start) }},
	{"a start that finds no segment", kafka.NoOffset,
		func(r *remover) {
			r.filled(4)
			r.w.kill()
			for _, kind := range indexKinds[:2] {
				r.must(r.w.fs.Remove(segmentPath(dir, 0) + kind))
			}
			r.must(r.w.fs.Remove(segmentPath(dir, 0) + logSuffix))
			r.w.fs.SyncDir(r.w.syncs.Token(r.must), dir)
			r.w.drain()
			r.l = nil
		},
		func(r *remover) { r.start = 7; r.l, _ = r.w.open(false, r.point, r.start) }},
}

// Whichever names a power loss leaves, offsets below the recovery point are not given
// out again, and what was deleted does not come back if the checkpoint of log starts
// was written.
func TestNoSegmentGoesBeforeTheNameOfTheFirstThatStaysIsDurable(t *testing.T) {
	for _, c := range removals {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := &remover{t: t, w: surveyed(t), cut: c.cut, seen: map[string]bool{}}
			r.l, _ = r.w.open(false, 0, 0)
			c.before(r)
			r.checkpoint()
			r.w.watch = r.crash
			c.removal(r)
			for r.checkpoint(); len(r.w.dues) > 0; r.checkpoint() {
				r.w.complete(0)
			}
			r.w.advance(1 << 40)
			r.crash()
			if got := names(t, r.w, logSuffix); len(got) != 1 {
				t.Fatalf("in the end there is %v", got)
			}
		})
	}
}

// checkpoint writes the checkpoints, so to speak, as between two callbacks of a lane.
func (r *remover) checkpoint() {
	if r.l == nil {
		return
	}
	r.point, r.old, r.start = r.l.RecoveryPoint(), r.start, 0
	if r.l.StartUnnamed() {
		r.start = r.l.LogStart()
	}
	r.told = r.l.LogStart()
}

// crash looks at each set of names that a power loss may leave here, with nothing and
// with all of what the files have in the page cache.
func (r *remover) crash() {
	s := r.w.disk.Survey()
	keeps := subsets(s.Changes())
	if n := s.Changes(); n > allSubsets && n <= 6 {
		keeps = nil
		for mask := range 1 << n {
			keeps = append(keeps, chosen(n, func(i int) bool { return mask&(1<<i) != 0 }))
		}
	}
	contents, trees := map[faultdisk.Inode][][]byte{}, map[string]bool{}
	for _, keep := range keeps {
		s.Close(keep)
		if trees[fmt.Sprint(keep)] {
			continue
		}
		trees[fmt.Sprint(keep)] = true
		for content := range 2 {
			r.look(r.left(s, keep, contents, content))
		}
	}
}

// left are the files of one loss.
func (r *remover) left(s faultdisk.Survey, keep []bool, contents map[faultdisk.Inode][][]byte, content int) (files []simdisk.Content) {
	for _, n := range s.Names(keep) {
		if n.Dir {
			continue
		}
		all, known := contents[n.Inode]
		if !known {
			var err error
			all, err = s.Contents(n.Inode)
			r.must(err)
			contents[n.Inode] = all
		}
		files = append(files, simdisk.Content{Path: n.Name, Bytes: all[min(content, len(all)-1)]})
	}
	return files
}

// look starts on what is left, with the checkpoint of log starts as it is and as it
// was before.
func (r *remover) look(files []simdisk.Content) {
	for _, start := range slices.Compact([]kafka.Offset{r.start, r.old}) {
		key := fmt.Sprint(r.point, r.told, start)
		for _, f := range files {
			key += "\n" + f.Path + " " + string(f.Bytes)
		}
		if r.seen[key] || onRealFiles() && len(r.seen)%67 != 0 {
			r.seen[key] = true
			continue
		}
		r.seen[key] = true
		w := loaded(r.t, files)
		l, _ := w.open(false, r.point, start)
		var found []string
		for _, f := range files {
			found = append(found, fmt.Sprintf("%s, %d bytes", f.Path, len(f.Bytes)))
		}
		point, told := r.point, r.told
		if r.cut != kafka.NoOffset {
			point, told = min(point, r.cut), min(told, r.cut)
		}
		if l.LogEnd() < point {
			r.t.Fatalf("the log goes from %d to %d and its recovery point was %d, of\n%v", l.LogStart(), l.LogEnd(), r.point, found)
		}
		if start == r.start && l.LogStart() < told {
			r.t.Fatalf("the log starts at %d again, not at %d, of\n%v", l.LogStart(), r.told, found)
		}
		if point == r.point && l.floor(l.LogStart()) == 0 { // else the checkpoint may vouch for what was cut, or for nothing
			audit(r.t, l)
		}
		w.end()
	}
}

func TestDeletionsThatKeepComingDoNotHoldEachOtherUp(t *testing.T) {
	w, l := newLog(t)
	for i := range kafka.Offset(40) {
		lead(t, l, 1, 5)
		l.SetHighWatermark(l.LogEnd())
		if err := l.RaiseLogStart(5 * i); err != nil {
			t.Fatal(err)
		}
		for n := len(w.dues); n > 0; n-- {
			w.complete(0)
		}
		if _, err := l.DeleteOldSegments(1000); err != nil { // while the sync of the last one is under way
			t.Fatal(err)
		}
		if n := len(names(t, w, logSuffix)); n > len(l.segments)+3 {
			t.Fatalf("%d log files for %d segments", n, len(l.segments))
		}
	}
}

func TestAFlushVouchesForDeletedSegmentsThatMayComeBack(t *testing.T) {
	w, l := newFrailLog(t)
	lead(t, l, 1, 14)
	w.kill() // nothing is durable, and the names that there are may be so
	w.fs.SyncDir(w.syncs.Token(func(error) {}), dir)
	w.fs.SyncDir(w.syncs.Token(func(error) {}), "")
	w.drain()
	l, _ = w.open(false, 0, 0)
	l.SetHighWatermark(14)
	if err := l.RaiseLogStart(10); err != nil {
		t.Fatal(err)
	}
	w.drain() // of the epoch file
	if n, err := l.DeleteOldSegments(1000); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	l.Flush(nil)
	for len(w.dues) > 0 && l.RecoveryPoint() == 0 {
		w.complete(len(w.dues) - 1)
	}
	point := l.RecoveryPoint()
	w.power(faultdisk.LoseAll, 0)
	l, _ = w.open(false, point, 0)
	if got := content(t, l); len(got) == 0 || l.LogEnd() != 14 || got[0].BaseOffset() != l.LogStart() || got[len(got)-1].LastOffset() != 13 {
		t.Fatalf("%d to %d: %v", l.LogStart(), l.LogEnd(), text(got))
	}
}
