package storage

import (
	"errors"
	"slices"
	"testing"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
)

// After a failed fsync Linux marks the pages clean, so the next one succeeds. It
// must not be believed, for the records that the first one lost.
func TestAnFsyncThatFailedOnceIsNeverFollowedByARecoveryPoint(t *testing.T) {
	for _, after := range []faultdisk.Aftermath{faultdisk.Keeps, faultdisk.Reverts, faultdisk.Gone} {
		for _, target := range []string{dir + "/*.log", dir + "/*.index", dir} {
			w, l := newLog(t)
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
		w, l := newLog(t)
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
