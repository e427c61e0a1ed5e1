package storage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tidemark/disk"
	"tidemark/model/kafka"
)

// deletedSuffix is that of a file that waits for its removal. It is part of no
// log any more: a start removes what it finds of them.
const deletedSuffix = ".deleted"

// names are those of a segment's files.
func (s *segment) names() []string {
	kinds := s.kinds()
	if s.fresh {
		kinds = append([]string{logSuffix}, s.stale...)
	}
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = fileName(s.base, kind+s.suffix)
	}
	return names
}

// fileName is the name of a file of the segment, or snapshot, at base.
func fileName(base kafka.Offset, suffix string) string {
	return strings.TrimPrefix(segmentPath("", base), "/") + suffix
}

// retire closes a segment and sets its files aside.
func (l *Log) retire(s *segment) error {
	if err := l.leave(s); err != nil {
		return err
	}
	return l.setAside(s.names()...)
}

// retireOldest is retire for the first segment of the log. Its files keep their
// names until that of the segment which is the first from now on is durable: a
// directory without any would tell nothing of the offsets that were used. And until
// those of the segments before are set aside durably: a crash may bring deleted
// segments back, but never one without the next, as there is no hole in a log.
//
//	     dir fsync              dir fsync                dir fsync
//	delete ─▶ set the first aside ─▶ set the next aside ─▶ … ─▶ only the name of the first is left
func (l *Log) retireOldest(s *segment) error {
	if err := l.leave(s); err != nil {
		return err
	}
	l.oldest = append(l.oldest, s.names())
	l.awaitFirst()
	return nil
}

// awaitFirst lets what waits in l.oldest be set aside once the name is durable of the
// segment that is the first of the log now.
func (l *Log) awaitFirst() {
	l.moved = true
	if !l.asideBusy {
		l.syncAside()
	}
}

// awaitAnew makes a flush wait, in a log that began anew, until what it had before is
// gone for good; it returns how many times synced will run.
func (l *Log) awaitAnew(synced func(error)) int {
	if !l.anew {
		return 0
	}
	l.anewFlushes = append(l.anewFlushes, synced)
	return 1
}

// setAside gives files of the log's directory, which nobody has open, the suffix
// .deleted. They are removed file.delete.delay.ms after their new names are
// durable: else a crash could bring a segment back without one of its indexes. A
// file that waits under the same name gives way.
func (l *Log) setAside(names ...string) error {
	for _, n := range names {
		if err := l.fs.Rename(l.dir+"/"+n, l.dir+"/"+n+deletedSuffix); err != nil {
			return err
		}
	}
	l.aside = append(l.aside, names...)
	if !l.asideBusy {
		l.syncAside()
	}
	return nil
}

// syncAside makes names durable, of what was set aside and of the first segment, and
// goes on with what waits for that, or came meanwhile.
func (l *Log) syncAside() {
	names := l.aside
	l.aside, l.asideBusy, l.ready = nil, true, len(l.oldest) > 0
	l.fs.SyncDir(l.syncs.Token(func(err error) {
		l.asideBusy = false
		if l.closed || l.failed != nil {
			return
		}
		if err != nil {
			l.fail(err)
			return
		}
		l.unlinkLater(names)
		switch {
		case l.ready:
			next := l.oldest[0]
			l.oldest = l.oldest[1:]
			if err := l.setAside(next...); err != nil {
				l.fail(fmt.Errorf("delete old segments of %s: %w", l.dir, err))
			}
		case len(l.aside) > 0 || len(l.oldest) > 0:
			l.syncAside()
		default:
			l.leaveOldest()
		}
	}), l.dir)
}

// leaveOldest goes on with what waits until no deleted segment has its names, even
// after a crash.
func (l *Log) leaveOldest() {
	flushes := l.anewFlushes
	l.moved, l.anew, l.anewFlushes = false, false, nil
	for _, synced := range flushes {
		synced(nil)
	}
	if f := l.afterOldest; f != nil {
		l.afterOldest = nil
		f()
	}
}

func (l *Log) unlinkLater(names []string) {
	if l.timers == nil {
		l.unlink(names)
		return
	}
	l.timers.After(milliseconds(l.cfg.FileDeleteDelayMs), func() {
		if !l.closed && l.failed == nil {
			l.unlink(names)
		}
	})
}

// unlink removes files that were set aside, wherever the log's directory is now.
// One that is gone was set aside twice, or went with the directory.
func (l *Log) unlink(names []string) {
	for _, n := range names {
		if err := l.fs.Remove(l.dir + "/" + n + deletedSuffix); err != nil && !errors.Is(err, disk.ErrNotExist) {
			l.fail(fmt.Errorf("remove %s of %s: %w", n+deletedSuffix, l.dir, err))
			return
		}
	}
}

// removeDeleted unlinks what an earlier life set aside, but for the indexes of a
// segment whose log came back from a crash, which it returns.
func (l *Log) removeDeleted(names []string) (torn []string, err error) {
	for _, n := range names {
		live, ok := strings.CutSuffix(n, deletedSuffix)
		if !ok {
			continue
		}
		if cameBack(live, names) {
			torn = append(torn, live)
			continue
		}
		if err := l.fs.Remove(l.dir + "/" + n); err != nil {
			return nil, err
		}
	}
	return torn, nil
}

// cameBack tells that a file which was set aside is an index of a log that was not,
// or of one that was when the cleaner put another in its place, and that came back.
func cameBack(name string, names []string) bool {
	base, kind, _ := strings.Cut(name, ".")
	if kind := "." + kind; kind != indexSuffix && kind != timeSuffix && kind != txnSuffix {
		return false
	}
	_, there := slices.BinarySearch(names, base+logSuffix)
	_, aside := slices.BinarySearch(names, base+logSuffix+deletedSuffix)
	_, own := slices.BinarySearch(names, name)
	return there && (!aside || !own)
}

// distrust makes the segments be walked whose indexes are torn off.
func (l *Log) distrust(torn []string) {
	for _, n := range torn {
		digits, _, _ := strings.Cut(n, ".")
		base, _ := parseBase(digits, "")
		if s := l.segments[l.floor(base)]; s.base == base && s.suffix == "" {
			s.unusable = true
		}
	}
}

// forgetTorn unlinks the torn indexes, once those that were rebuilt are durable.
func (l *Log) forgetTorn(torn []string) {
	if len(torn) == 0 {
		return
	}
	l.begin(&flushOp{upTo: l.recovery, done: func(err error) {
		if err == nil {
			l.unlink(torn)
		}
	}})
}

// milliseconds is ms as a duration; one that no duration can hold is the longest.
func milliseconds(ms int64) time.Duration {
	if ms > int64(time.Duration(1<<63-1)/time.Millisecond) {
		return 1<<63 - 1
	}
	return time.Duration(ms) * time.Millisecond
}
