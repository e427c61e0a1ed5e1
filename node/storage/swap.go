package storage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tidemark/disk"
	"tidemark/model/kafka"
)

// The suffixes of a segment that is to come in place of others: while it is
// written, and once it is complete. Until its files have their own names the
// segment carries the suffix it has.
const (
	cleanedSuffix = ".cleaned"
	swapSuffix    = ".swap"
)

// swapStage is what a swap waits for.
type swapStage uint8

const (
	staging   swapStage = iota // files under .cleaned are becoming durable
	naming                     // names under .swap are
	replacing                  // the removal of what was replaced is
	settling                   // the final names are
)

// swap puts one segment in the place of a run of others, as Kafka's
// replaceSegments does:
//
//	write .cleaned, fsync ─▶ rename to .swap ─▶ set the old ones aside ─▶ rename to the final names
//	                    dir fsync           dir fsync                dir fsync            dir fsync
//
// A start that finds .cleaned drops what is new, one that finds .swap alone goes
// on with it, so a crash leaves all of the old segments or the new one. Kafka
// syncs the directory at the end, and relies for the rest on file systems that
// keep the order of renames; here each arrow waits for what comes before.
//
// Before the old segments are replaced, truncation or deletion ends the swap.
// From then on no flush completes before the swap does: a cut of the new segment
// counts as durable only when no old one can come back.
type swap struct {
	log     *Log
	made    []*segment // one, unless a start found more
	old     []*segment // nil if a start resumes the swap
	left    []string   // files that the start found, and that go in the end
	stage   swapStage
	waiting int // fsyncs that did not complete
	flushes []func(error)
	done    func()
}

// startSwap begins to put made, whose files are written under .cleaned, in the
// place of old, consecutive segments of the log. done runs when it is through;
// never if the swap is aborted or the log fails.
func (l *Log) startSwap(made *segment, old []*segment, done func()) {
	w := &swap{log: l, made: []*segment{made}, old: old, done: done}
	l.swap = w
	w.waiting = 1
	made.dirty = false
	made.log.Sync(w.token())
	for _, x := range made.indexes() {
		x.dirty = false
		x.file.Sync(w.token())
	}
	l.fs.SyncDir(w.token(), l.dir)
	w.synced(nil)
}

func (w *swap) token() disk.Token {
	w.waiting++
	return w.log.syncs.Token(w.synced)
}

func (w *swap) synced(err error) {
	l := w.log
	w.waiting--
	if l.closed || l.failed != nil || l.swap != w {
		return
	}
	if err == nil && w.waiting == 0 {
		err = w.advance()
	}
	if err != nil {
		_ = l.failing("swap segment "+offsetText(w.made[0].base)+" in", err)
	}
}

// advance takes the next step, and waits for the directory after it.
func (w *swap) advance() error {
	l := w.log
	var err error
	switch w.stage {
	case staging:
		err = w.rename(swapSuffix)
	case naming:
		err = w.replace()
	case replacing:
		err = w.rename("")
	case settling:
		l.swap = nil
		for _, synced := range w.flushes {
			synced(nil)
		}
		if w.done != nil {
			w.done()
		}
		return nil
	}
	if err != nil {
		return err
	}
	w.stage++
	l.fs.SyncDir(w.token(), l.dir)
	return nil
}

// rename gives the files of what is new the suffix, the log first. A segment that
// a truncation dropped meanwhile has no name any more.
func (w *swap) rename(suffix string) error {
	l := w.log
	for _, s := range w.made {
		if w.stage == replacing && !slices.Contains(l.segments, s) {
			continue
		}
		for _, kind := range s.kinds() {
			path := segmentPath(l.dir, s.base) + kind
			if err := l.fs.Rename(path+s.suffix, path+suffix); err != nil {
				return err
			}
		}
		s.suffix = suffix
	}
	return nil
}

// replace lets the new segment take the place of the old ones in memory, and
// sets the old ones aside, the first first. Producer snapshots go with them, but
// that at the base offset which stays.
func (w *swap) replace() error {
	l := w.log
	if w.old != nil {
		l.recent = recentPlaces{}
		i := slices.Index(l.segments, w.old[0])
		l.segments = slices.Replace(l.segments, i, i+len(w.old), w.made...)
	}
	for _, s := range w.old {
		if err := l.retire(s); err != nil {
			return err
		}
		if s.base != w.made[0].base {
			if err := l.retireSnapshot(s.base); err != nil {
				return err
			}
		}
	}
	if len(w.left) == 0 {
		return nil
	}
	left := w.left
	w.left = nil
	return l.setAside(left...)
}

// replaced tells that the old segments are gone from memory: there is no way
// back.
func (w *swap) replaced() bool { return w.stage >= replacing || w.old == nil }

// awaitSwap makes a flush wait for a swap without a way back; it returns how many
// times synced will run.
func (l *Log) awaitSwap(synced func(error)) int {
	if l.swap == nil || !l.swap.replaced() {
		return 0
	}
	l.swap.flushes = append(l.swap.flushes, synced)
	return 1
}

// abortSwap ends a swap that did not replace anything yet, and removes what it
// wrote.
func (l *Log) abortSwap() error {
	w := l.swap
	if w == nil || w.replaced() {
		return nil
	}
	l.swap = nil
	return l.discard(w.made[0])
}

// discard closes a segment that never was part of the log, and unlinks its files.
func (l *Log) discard(s *segment) error {
	l.dirDirty = true
	err := s.close()
	for _, kind := range s.kinds() {
		err = errors.Join(err, l.fs.Remove(segmentPath(l.dir, s.base)+kind+s.suffix))
	}
	return err
}

// freeNames makes way for a segment of the given base offset: a truncation in
// the middle of a swap that a start resumed may bring the log end to where files
// of a replaced segment still are.
func (l *Log) freeNames(base kafka.Offset) error {
	if l.swap == nil {
		return nil
	}
	digits := strings.TrimPrefix(segmentPath("", base), "/")
	var same []string
	l.swap.left = slices.DeleteFunc(l.swap.left, func(name string) bool {
		if strings.HasPrefix(name, digits) {
			same = append(same, name)
			return true
		}
		return false
	})
	if len(same) == 0 {
		return nil
	}
	return l.setAside(same...)
}

// createCleaned makes the files of a segment that the cleaner will write, in
// place of those that an earlier, aborted pass may have left.
func (l *Log) createCleaned(base kafka.Offset) (*segment, error) {
	s := newSegment(base, l.clock)
	s.suffix = cleanedSuffix
	path := segmentPath(l.dir, base)
	l.dirDirty = true
	var errs [3]error
	s.log, errs[0] = l.fs.Create(path + logSuffix + cleanedSuffix)
	s.index.file, errs[1] = l.fs.Create(path + indexSuffix + cleanedSuffix)
	s.times.file, errs[2] = l.fs.Create(path + timeSuffix + cleanedSuffix)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("create cleaned segment %s: %w", path, err)
	}
	return s, nil
}

// kinds are the suffixes of the files that the segment has.
func (s *segment) kinds() []string {
	kinds := []string{logSuffix, indexSuffix, timeSuffix}
	if s.txns.file != nil {
		kinds = append(kinds, txnSuffix)
	}
	return kinds
}

// indexes are the index files that the segment has.
func (s *segment) indexes() []*indexFile {
	all := []*indexFile{&s.index.indexFile, &s.times.indexFile}
	if s.txns.file != nil {
		all = append(all, &s.txns.indexFile)
	}
	return all
}
