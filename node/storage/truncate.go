package storage

import (
	"errors"
	"fmt"
	"slices"

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
	if l.flushCut(l.active().base); l.failed != nil {
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
	if err := l.beginAnew(o); err != nil {
		return l.failing("truncate", err)
	}
	l.start, l.end, l.highWatermark = o, o, o
	l.cleanedUpTo = min(l.cleanedUpTo, o)
	if err := l.truncateProducersFully(); err != nil {
		return l.failing("truncate", err)
	}
	l.lowerRecovery(o)
	l.flushCut(l.active().base)
	if l.epochs.clear() {
		l.saveEpochs()
	}
	return nil
}

// beginAnew makes an empty segment at o the only one of the log; one that begins at o
// already is emptied. All others are set aside as deleted ones are, once its name is
// durable, and no flush completes before they are gone: a crash leaves the old log, or
// the end of it, or the new one. A new log at offset 0 has nothing to wait for.
func (l *Log) beginAnew(o kafka.Offset) error {
	err := l.abortCleaning()
	l.ready = false // what waits for the sync under way waits for another one now
	var same *segment
	for _, s := range l.segments {
		if s.base == o {
			same = s
			continue
		}
		err = errors.Join(err, l.leave(s), l.retireSnapshot(s.base))
		l.oldest = append(l.oldest, s.names())
	}
	l.segments = nil
	if same == nil && err == nil {
		same, err = l.reopen(o)
	}
	switch {
	case err != nil:
	case same != nil:
		l.segments, same.created = []*segment{same}, l.clock
		err = errors.Join(same.cutLog(0), same.empty(true))
	default:
		err = l.startSegment(o)
	}
	l.anew = len(l.oldest) > 0
	if err == nil && (l.anew || o > 0) {
		l.awaitFirst()
	}
	return err
}

// reopen takes the segment at o back, if there is one that waits for its removal.
func (l *Log) reopen(o kafka.Offset) (*segment, error) {
	i := slices.IndexFunc(l.oldest, func(names []string) bool { return slices.Contains(names, fileName(o, logSuffix)) })
	if i < 0 {
		return nil, nil
	}
	names := l.oldest[i]
	slices.Sort(names)
	l.oldest = slices.Delete(l.oldest, i, i+1)
	s := newSegment(o, l.clock)
	s.jitter = l.drawJitter()
	return s, errors.Join(l.openSegment(s, names), l.readyIndexes(s, false))
}

// RaiseLogStart moves the log start up to o: after DeleteRecords, by retention, or
// as the leader's moved. Segments that lie below as a whole go with the next
// DeleteOldSegments. The high watermark is not below. The recovery point may be, where
// Kafka raises it: if the checkpoint of log starts is older than that of recovery
// points, a power loss would else bring back a log that ends below it, and any crash a
// log that it vouches for and whose leader epochs the file does not tell. Nothing
// happens if the log starts there already; ErrOffsetOutOfRange if o is above the log
// end.
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
	l.SetHighWatermark(l.highWatermark)
	if l.epochs.trimStart(o) {
		l.saveEpochs()
	}
	l.raiseProducers()
	return nil
}

// StartUnnamed tells that the log start needs a line in the log directory's
// log-start-offset-checkpoint: no segment's name tells it, or not durably. In Kafka
// the cache suffices.
func (l *Log) StartUnnamed() bool { return l.start > l.segments[0].base || l.moved && l.start > 0 }

func (l *Log) trimEpochs(end kafka.Offset) {
	if l.epochs.trimEnd(end) {
		l.saveEpochs()
	}
}
