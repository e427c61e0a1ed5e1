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
	l.dirDirty = true
	if err := s.close(); err != nil {
		return err
	}
	return l.setAside(s.names()...)
}

// retireOldest is retire for the first segment of the log. Its files keep their
// names until those of the segments before are set aside durably: a crash may bring
// deleted segments back, but never one without the next, as there is no hole in a
// log.
func (l *Log) retireOldest(s *segment) error {
	l.dirDirty = true
	if err := s.close(); err != nil {
		return err
	}
	l.oldest = append(l.oldest, s.names())
	return l.nextOldest()
}

// nextOldest sets the next segment aside that waits for the ones before.
func (l *Log) nextOldest() error {
	if l.asideBusy || len(l.oldest) == 0 {
		return nil
	}
	names := l.oldest[0]
	l.oldest = l.oldest[1:]
	return l.setAside(names...)
}

// hurryOldest sets aside what waits: the log begins anew.
func (l *Log) hurryOldest() error {
	for len(l.oldest) > 0 {
		names := l.oldest[0]
		l.oldest = l.oldest[1:]
		if err := l.setAside(names...); err != nil {
			return err
		}
	}
	return nil
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

// syncAside makes the names of what was set aside durable, once more for what
// comes meanwhile.
func (l *Log) syncAside() {
	names := l.aside
	l.aside, l.asideBusy = nil, true
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
		if len(l.aside) > 0 {
			l.syncAside()
		} else if err := l.nextOldest(); err != nil {
			l.fail(fmt.Errorf("delete old segments of %s: %w", l.dir, err))
		}
		l.leaveOldest()
	}), l.dir)
}

// leaveOldest goes on with what waits until no deleted segment has its names.
func (l *Log) leaveOldest() {
	if f := l.afterOldest; f != nil && len(l.oldest) == 0 {
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
