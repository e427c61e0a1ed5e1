package storage

import (
	"errors"
	"fmt"
	"io"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

// rebuildProducers makes what is known of the producers that of the batches
// below upTo, the log end or the base of a segment: from the newest snapshot
// that is whole, and from the batches behind it.
//
// unknown tells that a clean stop left no snapshot. Kafka then takes the log for one
// of an old release and believes that it has no producers, which it writes down: the
// loss of the files lets the retry of a batch in once more (story P2).
func (l *Log) rebuildProducers(upTo kafka.Offset, unknown bool) error {
	p := &l.producers
	if unknown {
		for _, s := range l.segments[max(0, len(l.segments)-2):] {
			p.end = s.base
			if err := l.takeSnapshot(); err != nil {
				return err
			}
		}
		p.end = upTo
		return l.takeSnapshot()
	}
	// A log that had no producers has none after a cut either.
	none := len(p.states) == 0 && p.end >= upTo
	if err := l.reloadProducers(upTo); err != nil {
		return err
	}
	if !none {
		if err := l.scanProducers(upTo); err != nil {
			return err
		}
	}
	p.end = upTo
	return l.takeSnapshot()
}

// reloadProducers drops the snapshots that are of no use below upTo, and starts
// from the newest of the others unless what is known is of upTo already.
//
// A snapshot tells of open transactions, not of decided ones whose marker is not
// replicated yet. Such a one below the snapshot is forgotten here and does not hold
// the last stable offset back any more, as in Kafka: ProducerStateManager's
// truncateAndReload clears the unreplicated transactions too and takes upTo to be at
// or below the high watermark. Who reads the committed sees no record at or above
// the high watermark all the same.
//
// One below where the cleaner has been is of no use either: a transaction that it calls
// open was decided, as the cleaner passes no open one, and the marker that would tell
// may be gone with its records. It would hold the last stable offset back for ever.
func (l *Log) reloadProducers(upTo kafka.Offset) error {
	p, cleaned := &l.producers, l.cleanedSegments()
	if err := l.dropSnapshots(func(o kafka.Offset) bool { return o > upTo || o <= l.start || o < cleaned }); err != nil {
		return err
	}
	if p.end == upTo {
		l.raiseProducers()
		return nil
	}
	p.forget()
	for n := len(p.snapshots); n > 0; n = len(p.snapshots) {
		newest := p.snapshots[n-1].offset
		states, err := l.readSnapshot(newest)
		if err == nil {
			for _, s := range states {
				if !p.expired(s, l.clock) {
					p.load(s)
				}
			}
			p.saved, p.end = newest, newest
			return nil
		}
		if !errors.Is(err, errSnapshot) && !errors.Is(err, disk.ErrNotExist) {
			return err
		}
		if err := l.dropSnapshot(newest); err != nil {
			return err
		}
	}
	p.saved, p.end = l.start, l.start
	return nil
}

// cleanedSegments is where the segments end that the cleaner may have rewritten.
func (l *Log) cleanedSegments() kafka.Offset {
	for _, s := range l.segments {
		if s.base >= l.cleanedUpTo {
			return s.base
		}
	}
	return l.cleanedUpTo
}

func (l *Log) readSnapshot(o kafka.Offset) ([]*producerState, error) {
	content, err := ReadFile(l.fs, l.snapshotPath(o))
	if err != nil {
		return nil, err
	}
	return parseSnapshot(content)
}

// raiseProducers follows a log start that rose. Producers whose batches went
// with it stay known until they expire (KIP-360).
func (l *Log) raiseProducers() {
	p := &l.producers
	p.txns.replicated(l.start)
	p.end = max(p.end, l.start)
	p.saved = l.start
	if n := len(p.snapshots); n > 0 {
		p.saved = p.snapshots[n-1].offset
	}
}

// scanProducers takes the batches from producers.end to upTo into account, and
// takes snapshots where the last two segments begin, so that a cut into them
// finds one.
func (l *Log) scanProducers(upTo kafka.Offset) error {
	p := &l.producers
	for i := l.floor(p.end); i < len(l.segments) && l.segments[i].base < upTo; i++ {
		s := l.segments[i]
		from := max(s.base, p.end, l.start)
		p.end = from
		if i >= len(l.segments)-2 && from == s.base {
			if err := l.takeSnapshot(); err != nil {
				return err
			}
		}
		if err := l.scanSegment(s, from); err != nil {
			return fmt.Errorf("producers of segment %d: %w", s.base, err)
		}
	}
	return nil
}

// scanSegment notes the batches of a segment that reach from or what follows.
func (l *Log) scanSegment(s *segment, from kafka.Offset) error {
	for l.walk.reset(s.log, s.index.lookup(from), s.size); ; {
		header, size, err := l.walk.head()
		if err == io.EOF || errors.Is(err, record.ErrTruncated) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.NextOffset() > from {
			if err := l.replay(header, size); err != nil {
				return err
			}
		}
		l.walk.skip(size)
	}
}

// replay takes the next batch of the walk into account; a control batch is read
// as a whole.
func (l *Log) replay(header record.Batch, size int) error {
	if header.IsControl() {
		var err error
		if header, err = l.walk.batch(size); err != nil {
			return err
		}
	}
	l.producers.replay(header)
	return nil
}

// truncateProducersFully forgets every producer: the log begins anew at its end.
func (l *Log) truncateProducersFully() error {
	p := &l.producers
	p.forget()
	p.saved, p.end = 0, l.end
	return l.dropSnapshots(func(kafka.Offset) bool { return true })
}
