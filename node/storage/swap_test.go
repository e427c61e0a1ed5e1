package storage

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// table is what a reader makes of batches: the last value of each key, as far as
// no transaction is concerned.
func table(batches []record.Batch) map[string]string {
	out := map[string]string{}
	for _, b := range batches {
		if b.IsTransactional() {
			continue
		}
		_ = b.Each(func(r record.Record) error {
			if r.Value == nil {
				delete(out, string(r.Key))
			} else {
				out[string(r.Key)] = string(r.Value)
			}
			return nil
		})
	}
	return out
}

func TestASwapLeavesOneSetOfFiles(t *testing.T) {
	w, l, j := keyed(t, "")
	for _, r := range []string{"a=1", "b=1", "a=2", "b=2"} {
		store(t, l, r)
		j.roll(l)
	}
	j.round()
	if got, want := files(t, w), "0.index 0.index.deleted 0.log 0.log.deleted 0.timeindex 0.timeindex.deleted "+
		"1.index.deleted 1.log.deleted 1.snapshot.deleted 1.timeindex.deleted 2.index.deleted 2.log.deleted 2.snapshot.deleted 2.timeindex.deleted "+
		"3.index.deleted 3.log.deleted 3.snapshot.deleted 3.timeindex.deleted 4.index 4.log 4.snapshot 4.timeindex"; got != want {
		t.Errorf("after the pass:\n%s\nwant\n%s", got, want)
	}
	w.advance(61 * time.Second)
	if got, want := files(t, w), "0.index 0.log 0.timeindex 4.index 4.log 4.snapshot 4.timeindex"; got != want {
		t.Errorf("a minute later:\n%s\nwant\n%s", got, want)
	}
	wantHolds(t, l, "2:a=2 3:b=2")
	audit(t, l)
}

func TestTheProducerSnapshotWhereANewSegmentBeginsStays(t *testing.T) {
	w, l, j := keyed(t, "")
	l.cfg.SegmentBytes = 200 // of two batches
	for _, r := range []string{"a=1", "b=1", "c=1", "d=1"} {
		store(t, l, r)
		j.roll(l)
	}
	j.round()
	w.advance(61 * time.Second)
	if got, want := files(t, w), "0.index 0.log 0.timeindex 2.index 2.log 2.snapshot 2.timeindex 4.index 4.log 4.snapshot 4.timeindex"; got != want {
		t.Errorf("files are\n%s\nwant\n%s", got, want)
	}
}

func TestWhatWasReadBeforeTheSwapIsStillThere(t *testing.T) {
	_, l, j := keyed(t, "")
	store(t, l, "a=1")
	store(t, l, "a=2")
	j.roll(l)
	slice, err := l.Read(0, 2, 1000, true)
	if err != nil {
		t.Fatal(err)
	}
	j.round()
	j.w.advance(61 * time.Second)
	buf := make([]byte, slice.Bytes)
	if err := slice.Region.Read(buf); err != nil {
		t.Fatalf("a region of a replaced segment: %v", err)
	}
	slice.Region.Release()
	if b, _, err := record.Next(buf); err != nil || b.Check() != nil || b.BaseOffset() != 0 {
		t.Errorf("it begins with %v, %v", b, err)
	}
	if got, err := l.ReadBatches(0, 1000); err != nil || record.Batch(got).BaseOffset() != 1 {
		t.Errorf("a read from 0 finds the batch at %d (%v), want that at 1", record.Batch(got).BaseOffset(), err)
	}
}

// interrupted are the things that take segments away from under a pass.
var interrupted = map[string]func(t failer, w *world, l *Log){
	"truncation": func(t failer, w *world, l *Log) {
		if err := l.TruncateTo(9); err != nil {
			t.Fatalf("%v", err)
		}
	},
	"truncation of all": func(t failer, w *world, l *Log) {
		if err := l.TruncateFullyAndStartAt(7); err != nil {
			t.Fatalf("%v", err)
		}
	},
	"deletion": func(t failer, w *world, l *Log) {
		if err := l.RaiseLogStart(12); err != nil {
			t.Fatalf("%v", err)
		}
		if _, err := l.DeleteOldSegments(5000); err != nil {
			t.Fatalf("%v", err)
		}
	},
}

func TestTruncationAndDeletionEndAPassAtAnyStep(t *testing.T) {
	bases, before, after, _ := messy(t)
	for name, interrupt := range interrupted {
		for steps, more := 0, true; more; steps++ {
			if skipped(steps) {
				continue
			}
			w := crashOn(t, newWorld, steps, name)
			l, j := mess(w)
			for range steps {
				j.tick()
			}
			more = len(j.cleaned) == 0
			w.unnamed(!more)
			when := fmt.Sprintf("%s after %d steps", name, steps)
			interrupt(t, w, l)
			for i, got := range bySegment(t, l, bases) {
				whole := bases[i] >= l.LogStart() && i+1 < len(bases) && bases[i+1] <= l.LogEnd()
				if whole && got != before[i] && got != after[i] || bases[i] >= l.LogEnd() && got != "" {
					t.Fatalf("%s: the part from %d on holds\n%s\nbefore\n%s\nafter\n%s", when, bases[i], got, before[i], after[i])
				}
			}
			if l.CleanedUpTo() > l.active().base {
				t.Fatalf("%s: cleaned up to %d, the active segment begins at %d", when, l.CleanedUpTo(), l.active().base)
			}
			audit(t, l)
			store(t, l, "new=1", "a=9")
			want := table(content(t, l))
			j.roll(l)
			j.round()
			if got := table(content(t, l)); !maps.Equal(got, want) {
				t.Fatalf("%s and a whole pass: the log says %v, want %v", when, got, want)
			}
			w.advance(2 * time.Minute)
			if got := files(t, w); strings.Contains(got, cleanedSuffix) || strings.Contains(got, swapSuffix) {
				t.Fatalf("%s: files are left: %s", when, got)
			}
			audit(t, l)
			w.end()
		}
	}
}

func TestACleanStopEndsAPassAndLeavesNothingOfIt(t *testing.T) {
	for steps, more := 0, true; more; steps++ {
		if skipped(steps) {
			continue
		}
		w := crashOn(t, newFrailWorld, steps, "")
		l, j := mess(w)
		want := table(content(t, l))
		for range steps {
			j.tick()
		}
		more = len(j.cleaned) == 0
		w.unnamed(!more)
		stopped := false
		l.Stop(func(err error) { stopped = err == nil })
		w.drain()
		if !stopped {
			t.Fatalf("after %d steps the log does not stop", steps)
		}
		w.power(0, 0) // everything was synced
		if got := files(t, w); strings.Contains(got, cleanedSuffix) || strings.Contains(got, swapSuffix) {
			t.Fatalf("stopped after %d steps: files are left: %s", steps, got)
		}
		l = w.openAs(compacted(), Opening{Clean: true, RecoveryPoint: l.LogEnd()})
		if got := table(content(t, l)); !maps.Equal(got, want) {
			t.Fatalf("stopped after %d steps: the log says %v, want %v", steps, got, want)
		}
		audit(t, l)
		w.end()
	}
}

func TestADeletedTopicsPassEnds(t *testing.T) {
	w := newWorld(t)
	l, j := mess(w)
	for l.cleaning == nil || l.cleaning.made == nil {
		j.tick()
	}
	if err := l.Rename("orders-0.id-delete"); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if names, err := w.fs.List("orders-0.id-delete"); err != nil || slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, cleanedSuffix) }) {
		t.Errorf("the directory holds %v, %v", names, err)
	}
	j.logs = nil
	if len(j.round()) != 0 {
		t.Error("the pass went on")
	}
}

func TestALogThatIsNotCompactedAnyMoreIsLeftAtOnce(t *testing.T) {
	w := newWorld(t)
	l, j := mess(w)
	for l.cleaning == nil || l.cleaning.made == nil {
		j.tick()
	}
	before := holds(t, l)
	c := l.Config()
	c.Compacted = false
	l.SetConfig(c)
	if len(j.round()) != 0 || strings.Contains(files(t, w), cleanedSuffix) {
		t.Errorf("passes %+v, files %s", j.cleaned, files(t, w))
	}
	wantHolds(t, l, before)
}

func TestADiskErrorInAPassMakesTheLogFail(t *testing.T) {
	w := newWorld(t)
	l, j := mess(w)
	for l.swap == nil {
		j.tick()
	}
	w.fail = errors.New("input/output error")
	w.drain()
	if l.Failed() == nil || w.failed == nil || l.cleaning != nil {
		t.Errorf("the log failed with %v, told %v", l.Failed(), w.failed)
	}
	w.fail = nil
	j.step()
	if j.c.pass != nil || j.step() != 15_000 {
		t.Error("the cleaner does not leave the log alone")
	}
}

// touch makes a file of a segment.
func touch(t failer, w *world, name string, content []byte) {
	t.Helper()
	f, err := w.fs.Create(dir + "/" + strings.Repeat("0", 19) + name)
	if err == nil {
		_, err = f.WriteAt(content, 0)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// replacedBy is a log of three segments of one record, and the bytes that a pass
// over the first two would have left.
func replacedBy(t failer) (w *world, point kafka.Offset, made []byte) {
	w, l, j := keyed(t, "")
	for _, r := range []string{"a=1", "a=2", "b=1"} {
		store(t, l, r)
		j.roll(l)
	}
	made, err := l.ReadBatches(1, 1)
	if err != nil {
		t.Fatalf("%v", err)
	}
	l.Close()
	return w, l.RecoveryPoint(), made
}

func TestAStartDropsWhatIsNotCompleteAndFinishesWhatIs(t *testing.T) {
	for _, c := range []struct {
		name  string
		found []string
		want  string // records
	}{
		{"a segment that is being written", []string{"0.log.cleaned", "0.index.cleaned"}, "0:a=1 1:a=2 2:b=1"},
		{"renames cut short", []string{"0.log.swap", "0.index.cleaned"}, "0:a=1 1:a=2 2:b=1"},
		{"a swap of a later segment of a split", []string{"0.log.cleaned", "1.log.swap"}, "0:a=1 1:a=2 2:b=1"},
		{"a complete segment", []string{"0.log.swap", "0.index.swap", "0.timeindex.swap"}, "1:a=2 2:b=1"},
		{"a complete log whose indexes were lost", []string{"0.log.swap"}, "1:a=2 2:b=1"},
		{"an index whose log has its name", []string{"0.index.swap", "0.timeindex.swap"}, "0:a=1 1:a=2 2:b=1"},
		{"deleted files", []string{"7.log.deleted", "0.log.deleted"}, "0:a=1 1:a=2 2:b=1"},
	} {
		w, point, made := replacedBy(t)
		for _, n := range c.found {
			var content []byte
			if strings.Contains(n, ".log.") {
				content = made
			}
			touch(t, w, n, content)
		}
		l := w.openAs(compacted(), Opening{RecoveryPoint: point})
		if got := holds(t, l); got != c.want {
			t.Errorf("%s: the log holds %s, want %s", c.name, got, c.want)
		}
		w.drain()
		w.advance(61 * time.Second)
		got := files(t, w)
		for _, s := range []string{cleanedSuffix, swapSuffix, deletedSuffix} {
			if strings.Contains(got, s) {
				t.Errorf("%s: files are left: %s", c.name, got)
			}
		}
		audit(t, l)
	}
}

func TestAStartSetsNothingAsideBeforeTheNamesAreDurable(t *testing.T) {
	w, point, made := replacedBy(t)
	for _, n := range []string{"0.log.swap", "0.index.swap", "0.timeindex.swap"} {
		touch(t, w, n, made[:len(made)*strings.Count(n, "log")])
	}
	l := w.openAs(compacted(), Opening{RecoveryPoint: point})
	if got := files(t, w); !strings.Contains(got, "0.log 0.log.swap") || !strings.Contains(got, "1.log") || strings.Contains(got, deletedSuffix) {
		t.Errorf("before the directory is synced: %s", got)
	}
	flushed := false
	l.Flush(func(error) { flushed = true })
	for len(w.dues) > 1 {
		w.complete(0)
		if l.swap != nil && flushed {
			t.Fatal("a flush completed while an old segment could come back")
		}
	}
	w.drain()
	if !flushed || l.swap != nil {
		t.Errorf("flushed %t", flushed)
	}
	wantHolds(t, l, "1:a=2 2:b=1")
}

// A truncation right after a start may bring the log end to where files of a
// segment that was replaced still are.
func TestATruncatedLogMayRollWhereAReplacedSegmentWas(t *testing.T) {
	w, point, made := replacedBy(t)
	touch(t, w, "0.log.swap", made)
	l := w.openAs(compacted(), Opening{RecoveryPoint: point})
	if err := l.TruncateTo(1); err != nil {
		t.Fatal(err)
	}
	if err := l.roll(1); err != nil {
		t.Fatal(err)
	}
	l.end = 1
	store(t, l, "c=1")
	w.drain()
	wantHolds(t, l, "1:c=1")
	w.advance(61 * time.Second)
	if got := files(t, w); strings.Contains(got, swapSuffix) || !strings.Contains(got, "1.log") {
		t.Errorf("files are %s", got)
	}
}
