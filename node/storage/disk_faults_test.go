package storage

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

// After a failed fsync Linux marks the pages clean, so the next one succeeds. It
// must not be believed, for the records that the first one lost.
func TestAnFsyncThatFailedOnceIsNeverFollowedByARecoveryPoint(t *testing.T) {
	for _, after := range []faultdisk.Aftermath{faultdisk.Keeps, faultdisk.Reverts, faultdisk.Gone} {
		for _, target := range []string{dir + "/*.log", dir + "/*.index", dir} {
			w, l := newFrailLog(t)
			l.Flush(nil)
			w.drain()
			lead(t, l, 0, 3)
			w.disk.Faults().FailSyncs(faultdisk.Target{Path: target, Op: 1}, after)
			var told []error
			l.Flush(func(err error) { told = append(told, err) })
			w.drain()
			l.Flush(func(err error) { told = append(told, err) })
			w.drain()
			if len(told) != 2 || !errors.Is(told[0], disk.ErrIO) || !errors.Is(told[1], disk.ErrIO) {
				t.Errorf("%s: two flushes ended with %v", target, told)
			}
			if l.RecoveryPoint() != 0 {
				t.Errorf("%s: the recovery point went to %d", target, l.RecoveryPoint())
			}
			if _, code, err := l.AppendAsLeader(batch(1, "late"), 0, 1); code != kafka.KafkaStorageError || err == nil {
				t.Errorf("%s: an append afterwards gave %v, %v", target, code, err)
			}
		}
	}
}

func TestALogThatCannotBeWrittenTakesNothingMoreAndIsWholeAfterTheRestart(t *testing.T) {
	for name, fault := range map[string]func(f simdisk.Faults){
		"no space":    func(f simdisk.Faults) { f.LimitSpace(500) },
		"error":       func(f simdisk.Faults) { f.FailWrites(faultdisk.Target{Path: dir + "/*.log"}, false) },
		"short write": func(f simdisk.Faults) { f.FailWrites(faultdisk.Target{Path: dir + "/*.log"}, true) },
	} {
		w, l := newFrailLog(t)
		lead(t, l, 0, 3)
		before := text(content(t, l))
		fault(w.disk.Faults())
		var code kafka.ErrorCode
		for range 20 {
			if _, code, _ = l.AppendAsLeader(batch(1, "x"), 0, 1); code != kafka.None {
				break
			}
			before = append(before, "taken")
		}
		w.disk.Faults().Heal()
		if _, again, err := l.AppendAsLeader(batch(1, "x"), 0, 1); code != kafka.KafkaStorageError || again != kafka.KafkaStorageError || err == nil {
			t.Errorf("%s: appends gave %v, then %v, %v", name, code, again, err)
		}
		w.kill()
		l, _ = w.open(false, 0, 0)
		if got := text(content(t, l)); len(got) != len(before) || !slices.Equal(got[:3], before[:3]) {
			t.Errorf("%s: the log came back as %v, want %d batches", name, got, len(before))
		}
	}
}

// What a broken device does to files of which each write and each sync succeeded.
var silentFaults = []struct {
	name          string
	before, after func(w *world) // the flush, and the loss of power
}{
	{"lying fsync", func(w *world) { w.disk.Faults().LieOnSyncs(faultdisk.Target{Path: dir + "/*.log"}) }, nil},
	{"lost writes", func(w *world) { w.disk.Faults().LoseWrites(faultdisk.Target{Path: dir + "/*.log", From: 4096}) }, nil},
	{"misdirected write", func(w *world) {
		w.disk.Faults().MisdirectWrites(faultdisk.Target{Path: dir + "/*.log", From: 8192, To: 12288})
	}, nil},
	{"bit rot", nil, func(w *world) {
		if hit, err := w.disk.Faults().Rot(faultdisk.Durable, firstSegment+logSuffix, 5000, 3); !hit || err != nil {
			w.t.Fatalf("%t, %v", hit, err)
		}
	}},
	{"bit rot in an index", nil, func(w *world) {
		if hit, err := w.disk.Faults().Rot(faultdisk.Durable, firstSegment+indexSuffix, 7, 4); !hit || err != nil {
			w.t.Fatalf("%t, %v", hit, err)
		}
	}},
}

// A start that walks the log keeps what is whole up to the first damage. One that
// trusts the files finds the damage when it is read. Neither gives a reader anything
// that was not appended.
func TestASilentFaultOfTheDiskIsFoundOrHarmless(t *testing.T) {
	for _, f := range silentFaults {
		for _, walk := range []bool{true, false} {
			w := newFrailWorld(t)
			c := small()
			c.SegmentBytes, c.IndexIntervalBytes = 20_000, 1000
			l := w.openAs(c, Opening{})
			if l.Flush(nil); f.before != nil {
				w.drain()
				f.before(w)
			}
			for i := range 40 {
				if _, code, err := l.AppendAsLeader(batch(1000, string(noise(uint64(i), 400))), 0, 1000); code != kafka.None || err != nil {
					t.Fatalf("%s: %s, %v", f.name, code, err)
				}
			}
			appended := content(t, l)
			l.Flush(nil)
			w.drain()
			point := l.RecoveryPoint()
			if l.Failed() != nil || point != 40 {
				t.Fatalf("%s: recovery point %d, %v", f.name, point, l.Failed())
			}
			w.power(faultdisk.LoseAll, 0)
			if f.after != nil {
				f.after(w)
			}
			if walk {
				point = 0
			}
			l = w.openAs(c, Opening{RecoveryPoint: point})
			found, err := readable(l)
			if whole := f.name == "bit rot in an index"; walk && err != nil || whole != (len(found) == len(appended)) {
				t.Errorf("%s, walked %t: %d batches of %d can be read, then %v", f.name, walk, len(found), len(appended), err)
			}
			for i, b := range found {
				if !bytes.Equal(b, appended[i]) {
					t.Errorf("%s, walked %t: batch %d is another one", f.name, walk, i)
				}
			}
		}
	}
}

// readable is every batch of a log up to the first that cannot be read, and why not.
func readable(l *Log) (all []record.Batch, err error) {
	for o := l.LogStart(); o < l.LogEnd(); {
		buf, err := l.ReadBatches(o, 1)
		if err != nil {
			return all, err
		}
		b, _, err := record.Next(buf)
		if err == nil {
			err = b.Check()
		}
		if err != nil {
			return all, err
		}
		all, o = append(all, b), b.NextOffset()
	}
	return all, nil
}

// A sector that cannot be read is an error to whoever reads it, and takes the log
// offline; what is in memory is read on.
func TestAReadErrorIsTold(t *testing.T) {
	w, l := newFrailLog(t)
	lead(t, l, 0, 12)
	l.Flush(nil)
	w.drain()
	w.power(faultdisk.LoseAll, 0)
	l, _ = w.open(false, l.RecoveryPoint(), 0)
	w.disk.Faults().FailReads(faultdisk.Target{Path: dir + "/*.log"})
	if _, err := l.ReadBatches(0, 1000); !errors.Is(err, disk.ErrIO) {
		t.Fatalf("a cold read gave %v", err)
	}
	if w.failed == nil || l.Failed() == nil {
		t.Fatalf("the lane was told %v, the log failed with %v", w.failed, l.Failed())
	}
}
