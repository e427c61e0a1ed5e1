package storage

import (
	"errors"
	"slices"

	"tidemark/model/kafka"
)

// flushOp is one flush under way. Flushes complete in the order in which they
// began, so the recovery point is at every moment the minimum over what is
// outstanding, and a file that an earlier flush syncs already is not synced
// twice.
type flushOp struct {
	upTo    kafka.Offset // everything below is durable once this is complete
	rolled  bool         // a roll began it: nobody may wait for it
	waiting int          // fsyncs that did not complete
	cut     bool         // makes a truncation durable, moves no recovery point
	base    kafka.Offset // of the segment that was cut
	done    func(error)
}

// maxUnsyncedRolls is how many rolled segments may wait for their fsync before an append
// waits too. A segment takes as long to fill as it is large, and usually its fsync is
// done by then. Where segments are tiny and the device is slow, each that waits would
// hold the descriptors of its files, until the process has none left and the log
// directory goes offline. Kafka has no such bound but that of the process.
const maxUnsyncedRolls = 16

// flushDue tells that whoever appended has to await a Flush: flush.messages is reached,
// or too many rolled segments wait.
func (l *Log) flushDue() bool {
	return l.rolls > maxUnsyncedRolls || int64(l.end-l.recovery) >= l.cfg.FlushMessages
}

// Flush makes everything up to the present log end durable: segments, indexes,
// their names and the epoch file. Then the recovery point moves there, and then
// done (which may be nil) runs with nil; or with the error of the disk, and the
// log has failed. done runs before Flush returns if nothing is left to do or the
// log failed before, and never after Close.
func (l *Log) Flush(done func(error)) {
	if l.failed != nil {
		if done != nil {
			done(l.offline())
		}
		return
	}
	l.begin(&flushOp{upTo: l.end, done: done})
}

// FlushIfDue begins a Flush if there is something to sync and the last one that
// completed lies flush.ms back at wall time now, ms. Kafka looks at every log each
// log.flush.scheduler.interval.ms.
func (l *Log) FlushIfDue(now kafka.Timestamp) {
	l.clock = now
	if l.recovery < l.end && int64(now-l.lastFlush) >= l.cfg.FlushMs {
		l.Flush(nil)
	}
}

// flushCut makes a truncation of the segment of the given base offset durable. Until
// then no epoch file is written.
func (l *Log) flushCut(base kafka.Offset) {
	l.cuts++
	l.begin(&flushOp{cut: true, base: base})
}

// begin asks for every fsync that is due, of indexes that are up to date. If one of
// them cannot be written, the log has failed.
func (l *Log) begin(op *flushOp) {
	l.ops = append(l.ops, op)
	synced := func(err error) { l.synced(op, err) }
	op.waiting = 1 // until all are asked for
	for _, s := range l.segments[l.firstUnsynced():] {
		if err := s.saveIndexes(); err != nil {
			_ = l.failing("flush", err)
			return
		}
		if s.dirty {
			s.dirty = false
			op.waiting++
			s.log.Sync(l.syncs.Token(synced))
		}
		for _, x := range [...]*indexFile{&s.index.indexFile, &s.times.indexFile, &s.txns.indexFile} {
			if x.dirty {
				x.dirty = false
				op.waiting++
				x.file.Sync(l.syncs.Token(synced))
			}
		}
	}
	op.waiting += l.syncSnapshots(synced) + l.awaitSwap(synced) + l.awaitRenewal(synced) + l.awaitAnew(synced)
	if l.dirDirty {
		l.dirDirty = false
		op.waiting++
		l.fs.SyncDir(l.syncs.Token(synced), l.dir)
	}
	if l.parentDirty {
		l.parentDirty = false
		op.waiting++
		l.fs.SyncDir(l.syncs.Token(synced), parent(l.dir))
	}
	l.synced(op, nil)
}

// firstUnsynced is the index of the segment from which on a flush looks: the one
// with the recovery point, or an earlier one that rolling sealed.
func (l *Log) firstUnsynced() int {
	i := l.floor(l.recovery)
	for i > 0 && l.segments[i-1].unsynced() {
		i--
	}
	return i
}

// synced counts one fsync of op as complete.
func (l *Log) synced(op *flushOp, err error) {
	op.waiting--
	switch {
	case l.closed || l.failed != nil:
	case err != nil:
		l.fail(err)
	default:
		l.settle()
	}
}

// settle completes the flushes that wait for nothing any more, in order. They
// wait for the epoch file too: a durable record must not have an epoch that a
// recovery would not find.
func (l *Log) settle() {
	l.settleCuts()
	for len(l.ops) > 0 && l.ops[0].waiting == 0 && !l.epochHeld && !l.epochFile.busy {
		op := l.ops[0]
		l.ops = l.ops[1:]
		if op.rolled {
			l.rolls--
		}
		l.recovery = max(l.recovery, op.upTo)
		l.lastFlush = l.clock
		if op.done != nil {
			op.done(nil)
		}
		l.settleCuts()
	}
}

// settleCuts completes the truncations that no fsync of theirs or of an earlier
// flush is outstanding for. They do not wait for the epoch file: it is held back
// until the last of them is durable.
func (l *Log) settleCuts() {
	for i := 0; i < len(l.ops) && l.ops[i].waiting == 0; i++ {
		if !l.ops[i].cut {
			continue
		}
		l.ops = slices.Delete(l.ops, i, i+1)
		i--
		if l.cuts--; l.cuts == 0 && l.epochHeld {
			l.saveEpochs()
		}
	}
}

// lowerRecovery keeps the recovery point, and what flushes under way will make
// of it, at or below o: what they synced above is gone.
func (l *Log) lowerRecovery(o kafka.Offset) {
	l.recovery = min(l.recovery, o)
	for _, op := range l.ops {
		op.upTo = min(op.upTo, o)
	}
}

// Stop is a clean stop: deleted segments are set aside one after another, the time
// indexes get their last entries, the producers their last snapshot, everything is
// flushed, the handles are given up, and then done runs. On an error of the disk done
// gets it, and the log stays open.
func (l *Log) Stop(done func(error)) {
	if l.failed == nil && l.moved {
		l.afterOldest = func() { l.Stop(done) }
		return
	}
	if l.failed == nil {
		if err := errors.Join(l.abortCleaning(), l.active().seal(), l.takeSnapshot()); err != nil {
			l.fail(err)
		}
	}
	l.Flush(func(err error) {
		if err == nil {
			l.Close()
		}
		done(err)
	})
}
