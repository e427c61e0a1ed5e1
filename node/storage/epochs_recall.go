package storage

import (
	"errors"
	"io"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// recallEpochs adds to the cache the leader epochs of batches below the first that
// it knows. The epoch file may tell of a log start that rose, of which a crash left
// neither the checkpoint nor the removal of segments. Kafka leaves the cache as it
// is, and then answers that the first epoch asked for ended where the first known
// one begins: a follower that parted before would not be cut.
func (l *Log) recallEpochs() error {
	before := l.end
	if entries := l.epochs.entries; len(entries) > 0 {
		before = entries[0].Start
	}
	var older []EpochEntry
	for i := l.floor(l.start); i < len(l.segments) && l.segments[i].base < before && l.start < before; i++ {
		var err error
		if older, err = l.epochsIn(l.segments[i], before, older); err != nil {
			return err
		}
	}
	l.epochs.prepend(older)
	return nil
}

// epochsIn adds to older the epochs that begin in a segment between the log start
// and before. It ends where the segment does, or at damage, which readers will meet.
func (l *Log) epochsIn(s *segment, before kafka.Offset, older []EpochEntry) ([]EpochEntry, error) {
	for l.walk.reset(s.log, s.index.lookup(l.start), s.size); ; {
		header, size, err := l.walk.head()
		if err == io.EOF || errors.Is(err, record.ErrTruncated) || errors.Is(err, record.ErrCorrupt) {
			return older, nil
		}
		if err != nil || header.BaseOffset() >= before {
			return older, err
		}
		e := header.LeaderEpoch()
		if n := len(older); header.LastOffset() >= l.start && e >= 0 && (n == 0 || e > older[n-1].Epoch) {
			older = append(older, EpochEntry{e, max(header.BaseOffset(), l.start)})
		}
		l.walk.skip(size)
	}
}
