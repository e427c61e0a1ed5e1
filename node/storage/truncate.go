package storage

import (
	"errors"
	"fmt"

	"tidemark/model/kafka"
)

// TruncateTo ends the log at offset o. At or above the log end only the epoch
// cache is trimmed: it may tell of a leader that left no record. Below the first
// segment everything goes, and the log starts at o. A batch that o falls into
// goes as a whole: the log then ends at its base offset.
//
// Recovery point and log start follow down. The cut becomes durable in the
// background; a Flush completes after it.
func (l *Log) TruncateTo(o kafka.Offset) error {
	switch {
	case l.failed != nil:
		return l.offline()
	case o < 0:
		panic("storage: truncation of " + l.dir + " to offset " + offsetText(o))
	case o >= l.end:
		l.trimEpochs(o)
		return nil
	case o < l.segments[0].base:
		return l.TruncateFullyAndStartAt(o)
	}
	if err := l.cut(o); err != nil {
		return l.failing("truncate", err)
	}
	l.lowerRecovery(l.end)
	l.start = min(l.start, l.end)
	l.cleanedUpTo = min(l.cleanedUpTo, l.active().base)
	if err := l.rebuildProducers(l.end, false); err != nil {
		return l.failing("truncate", err)
	}
	l.SetHighWatermark(l.highWatermark) // after the transactions were read again (KAFKA-12153)
	if l.flushCut(); l.failed != nil {
		return l.offline()
	}
	l.trimEpochs(l.end)
	return nil
}

// cut drops the later segments, the last first, then the end of the one that
// holds o, and moves the log end.
func (l *Log) cut(o kafka.Offset) error {
	l.recent = recentPlaces{}
	if err := l.dropFrom(l.floor(o) + 1); err != nil {
		return err
	}
	end, err := l.active().truncateTo(&l.walk, o, l.clock)
	l.end = end
	return err
}

// dropFrom removes the segments from index i on, the last first.
func (l *Log) dropFrom(i int) error {
	for n := len(l.segments) - 1; n >= i; n-- {
		s := l.segments[n]
		l.segments = l.segments[:n]
		if err := l.drop(s); err != nil {
			return err
		}
	}
	return nil
}

// drop deletes a segment, and the producer snapshot that was taken where it
// begins.
func (l *Log) drop(s *segment) error {
	return errors.Join(l.abortCleaning(), l.retire(s), l.retireSnapshot(s.base))
}

// TruncateFullyAndStartAt drops every record and epoch; the log then starts and
// ends at o.
func (l *Log) TruncateFullyAndStartAt(o kafka.Offset) error {
	if l.failed != nil {
		return l.offline()
	}
	l.recent = recentPlaces{}
	err := errors.Join(l.dropFrom(0), l.hurryOldest())
	if err == nil {
		err = l.startSegment(o)
	}
	if err != nil {
		return l.failing("truncate", err)
	}
	l.start, l.end, l.highWatermark = o, o, o
	l.cleanedUpTo = min(l.cleanedUpTo, o)
	if err := l.truncateProducersFully(); err != nil {
		return l.failing("truncate", err)
	}
	l.lowerRecovery(o)
	l.flushCut()
	if l.epochs.clear() {
		l.saveEpochs()
	}
	return nil
}

// RaiseLogStart moves the log start up to o: after DeleteRecords, by retention, or
// as the leader's moved. Segments that lie below as a whole go with the next
// DeleteOldSegments. What is below needs no recovery, so the recovery point is not
// below either, nor the high watermark. Nothing happens if the log starts there
// already; ErrOffsetOutOfRange if o is above the log end.
func (l *Log) RaiseLogStart(o kafka.Offset) error {
	switch {
	case l.failed != nil:
		return l.offline()
	case o > l.end:
		return fmt.Errorf("%w: log start %d above log end %d of %s", ErrOffsetOutOfRange, o, l.end, l.dir)
	case o <= l.start:
		return nil
	}
	l.start = o
	l.recovery = max(l.recovery, o)
	l.SetHighWatermark(l.highWatermark)
	if l.epochs.trimStart(o) {
		l.saveEpochs()
	}
	l.raiseProducers()
	return nil
}

// StartUnnamed tells that the log start needs a line in the log directory's
// log-start-offset-checkpoint: no segment's name tells it.
func (l *Log) StartUnnamed() bool { return l.start > l.segments[0].base }

func (l *Log) trimEpochs(end kafka.Offset) {
	if l.epochs.trimEnd(end) {
		l.saveEpochs()
	}
}
