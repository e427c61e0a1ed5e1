package storage

import (
	"errors"
	"fmt"
	"slices"

	"tidemark/disk"
)

// renewal brings indexes that a start made anew to their names, where the next start
// would trust them: in segments before those that an unclean start walks. A power loss may leave any part of what
// was written and not synced, and a part of an index can look like a whole one, so it
// is written beside the old one, or the missing one:
//
//	write .tmp, fsync ─▶ rename over the old one
//	                  dir fsync
//
// A start that finds .tmp removes it, finds what the start before found, and walks the
// segment as that did. No flush completes before the renewal is through. Kafka writes in
// place and syncs at the next flush only what lies from the recovery point on.
type renewal struct {
	log      *Log
	segments []*segment
	renamed  bool
	waiting  int // fsyncs that did not complete
	flushes  []func(error)
}

// readyIndexes gives a segment that was opened the index files that it has not; fresh
// tells that all are to be made anew beside what is there.
func (l *Log) readyIndexes(s *segment, fresh bool) error {
	if fresh {
		return l.renewIndexes(s)
	}
	for i, x := range s.indexes() {
		if x.file != nil {
			continue
		}
		l.dirDirty = true
		var err error
		if x.file, err = l.fs.Create(segmentPath(l.dir, s.base) + indexKinds[i] + s.suffix); err != nil {
			return err
		}
	}
	return nil
}

// renewIndexes lets empty files under .tmp take the place of a segment's indexes.
func (l *Log) renewIndexes(s *segment) error {
	l.dirDirty, s.fresh = true, true
	for i, x := range s.indexes() {
		if x.file != nil {
			s.stale = append(s.stale, indexKinds[i])
			if err := x.file.Close(); err != nil {
				return err
			}
		}
		var err error
		if x.file, err = l.fs.Create(segmentPath(l.dir, s.base) + indexKinds[i] + tmpSuffix); err != nil {
			return err
		}
		x.data, x.saved = nil, 0
	}
	if l.renewing == nil {
		l.renewing = &renewal{log: l}
	}
	l.renewing.segments = append(l.renewing.segments, s)
	return nil
}

// start asks for the fsyncs of what was made anew.
func (w *renewal) start() {
	w.waiting = 1
	for _, s := range w.present() {
		if s.dirty { // all that is walked may be in the page cache alone
			s.dirty = false
			s.log.Sync(w.token())
		}
		for _, x := range s.indexes() {
			x.dirty = false
			x.file.Sync(w.token())
		}
	}
	w.synced(nil)
}

// present are the segments that are still part of the log.
func (w *renewal) present() []*segment {
	w.segments = slices.DeleteFunc(w.segments, func(s *segment) bool { return !slices.Contains(w.log.segments, s) })
	return w.segments
}

func (w *renewal) token() disk.Token {
	w.waiting++
	return w.log.syncs.Token(w.synced)
}

func (w *renewal) synced(err error) {
	l := w.log
	w.waiting--
	if l.closed || l.failed != nil {
		return
	}
	if err == nil && w.waiting == 0 {
		err = w.advance()
	}
	if err != nil {
		_ = l.failing("rebuild indexes of", err)
	}
}

// advance gives the files their names, and ends once these are durable.
func (w *renewal) advance() error {
	l := w.log
	if w.renamed {
		l.renewing = nil
		for _, synced := range w.flushes {
			synced(nil)
		}
		return nil
	}
	w.renamed = true
	for _, s := range w.present() {
		path := segmentPath(l.dir, s.base)
		for i := range s.indexes() {
			if err := l.fs.Rename(path+indexKinds[i]+tmpSuffix, path+indexKinds[i]); err != nil {
				return err
			}
		}
		s.fresh, s.stale = false, nil
	}
	l.fs.SyncDir(w.token(), l.dir)
	return nil
}

// awaitRenewal makes a flush wait for a renewal; it returns how many times synced will
// run.
func (l *Log) awaitRenewal(synced func(error)) int {
	if l.renewing == nil {
		return 0
	}
	l.renewing.flushes = append(l.renewing.flushes, synced)
	return 1
}

// leave closes a segment, and unlinks what has no name of the log's yet.
func (l *Log) leave(s *segment) error {
	l.dirDirty = true
	err := s.close()
	if !s.fresh {
		return err
	}
	for i := range s.indexes() {
		err = errors.Join(err, l.fs.Remove(segmentPath(l.dir, s.base)+indexKinds[i]+tmpSuffix))
	}
	return err
}

// dropFresh unlinks the indexes that an earlier life was making anew.
func (l *Log) dropFresh(names []string) error {
	for _, name := range names {
		for _, kind := range indexKinds {
			if _, ok := parseBase(name, kind+tmpSuffix); !ok {
				continue
			}
			if err := l.unlinkNow(name); err != nil {
				return fmt.Errorf("remove an index that was not complete: %w", err)
			}
		}
	}
	return nil
}
