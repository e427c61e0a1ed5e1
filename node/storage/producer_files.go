package storage

import (
	"errors"
	"slices"

	"tidemark/disk"
	"tidemark/model/kafka"
)

// snapshotFile is a producer snapshot in the log's directory. It is written in
// place, as in Kafka: its CRC tells a torn one.
type snapshotFile struct {
	offset kafka.Offset
	file   disk.File // open until it was synced; nil of one that an earlier life left
	dirty  bool      // its fsync was not asked for yet
}

func (l *Log) snapshotPath(o kafka.Offset) string { return segmentPath(l.dir, o) + snapshotSuffix }

// takeSnapshot writes what is known of the producers below producers.end, if
// that moved since the last snapshot. The next flush syncs it.
func (l *Log) takeSnapshot() error {
	p := &l.producers
	if p.end <= p.saved {
		return nil
	}
	if err := l.dropSnapshot(p.end); err != nil {
		return err
	}
	l.dirDirty = true
	file, err := l.fs.Create(l.snapshotPath(p.end))
	if err != nil {
		return err
	}
	s := &snapshotFile{offset: p.end, file: file, dirty: true}
	i, _ := l.findSnapshot(p.end)
	p.snapshots = slices.Insert(p.snapshots, i, s)
	p.saved = p.end
	_, err = file.WriteAt(snapshotContent(p.sorted()), 0)
	return err
}

// findSnapshot is the place of the snapshot of offset o among the snapshots.
func (l *Log) findSnapshot(o kafka.Offset) (int, bool) {
	return slices.BinarySearchFunc(l.producers.snapshots, o, func(s *snapshotFile, o kafka.Offset) int {
		switch {
		case s.offset < o:
			return -1
		case s.offset > o:
			return 1
		}
		return 0
	})
}

// dropSnapshot unlinks the snapshot of offset o, if there is one.
func (l *Log) dropSnapshot(o kafka.Offset) error {
	i, ok := l.findSnapshot(o)
	if !ok {
		return nil
	}
	s := l.producers.snapshots[i]
	l.producers.snapshots = slices.Delete(l.producers.snapshots, i, i+1)
	l.dirDirty = true
	return errors.Join(s.close(), l.fs.Remove(l.snapshotPath(o)))
}

// retireSnapshot is dropSnapshot for the snapshot of a segment that is deleted: it
// waits for its removal as the segment's files do.
func (l *Log) retireSnapshot(o kafka.Offset) error {
	i, ok := l.findSnapshot(o)
	if !ok {
		return nil
	}
	s := l.producers.snapshots[i]
	l.producers.snapshots = slices.Delete(l.producers.snapshots, i, i+1)
	l.dirDirty = true
	return errors.Join(s.close(), l.setAside(fileName(o, snapshotSuffix)))
}

// dropSnapshots unlinks the snapshots that unwanted tells.
func (l *Log) dropSnapshots(unwanted func(o kafka.Offset) bool) error {
	for _, s := range slices.Clone(l.producers.snapshots) {
		if unwanted(s.offset) {
			if err := l.dropSnapshot(s.offset); err != nil {
				return err
			}
		}
	}
	return nil
}

// close gives the handle up, once.
func (s *snapshotFile) close() error {
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return file.Close()
}

// syncSnapshots asks for the fsyncs of the snapshots that are due one. synced
// runs with the end of each; the result is how many there are.
func (l *Log) syncSnapshots(synced func(error)) (asked int) {
	for i := len(l.producers.snapshots) - 1; i >= 0; i-- {
		s := l.producers.snapshots[i]
		if !s.dirty {
			continue
		}
		s.dirty = false
		asked++
		s.file.Sync(l.syncs.Token(func(err error) { synced(errors.Join(err, s.close())) }))
	}
	return asked
}

// loadSnapshots notes the snapshots among the names in the directory. One that
// no segment begins at was taken at the log's end, and is dropped unless it is
// the newest and lies behind every segment's base.
func (l *Log) loadSnapshots(names []string) error {
	for _, name := range names { // sorted, and so are the offsets
		if o, ok := parseBase(name, snapshotSuffix); ok {
			l.producers.snapshots = append(l.producers.snapshots, &snapshotFile{offset: o})
		}
	}
	newest := kafka.NoOffset
	if n := len(l.producers.snapshots); n > 0 {
		newest = l.producers.snapshots[n-1].offset
	}
	return l.dropSnapshots(func(o kafka.Offset) bool {
		if len(l.segments) == 0 {
			return o != newest
		}
		return l.SegmentBase(o) != o && (o != newest || o < l.active().base)
	})
}
