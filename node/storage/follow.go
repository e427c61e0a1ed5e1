package storage

import (
	"errors"
	"fmt"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// ErrUnexpectedOffset: a follower was given records that do not continue its
// log. Errors that wrap it are *UnexpectedOffsetError.
var ErrUnexpectedOffset = errors.New("unexpected offset in append")

// UnexpectedOffsetError tells where the refused records lie. If the log is empty
// and First < LogEnd ≤ Last, the leader's log start is inside a batch, and the
// follower starts its log again at First (KAFKA-6975).
type UnexpectedOffsetError struct {
	First, Last kafka.Offset
	LogEnd      kafka.Offset
}

// Error tells the offsets.
func (e *UnexpectedOffsetError) Error() string {
	return fmt.Sprintf("%v: offsets %d to %d at log end %d", ErrUnexpectedOffset, e.First, e.Last, e.LogEnd)
}

// Unwrap is ErrUnexpectedOffset.
func (e *UnexpectedOffsetError) Unwrap() error { return ErrUnexpectedOffset }

// AppendAsFollower appends the batches of a fetch answer as they are. Offsets
// may skip (compaction) but not fall: else nothing is appended and the error
// wraps ErrUnexpectedOffset. A batch that the answer's end cuts off, and what
// begins with a batch above maxEpoch (the leader epoch of the request), is left
// out. At a damaged batch the append stops, and the error wraps
// record.ErrCorrupt; the ones before it are in (KAFKA-18723). Any other error is
// the disk's, and the log has failed.
func (l *Log) AppendAsFollower(records []byte, maxEpoch kafka.LeaderEpoch) (Appended, error) {
	if l.failed != nil {
		return nothing, l.offline()
	}
	good, damage, err := l.prefix(records, maxEpoch)
	if err != nil {
		return nothing, err
	}
	if len(good) == 0 {
		return nothing, damage
	}
	l.noteEpochs(good)
	done, err := l.add(good, record.Batch(good))
	if err != nil {
		return done, err
	}
	return done, damage
}

// prefix cuts records to the batches that may be appended. err refuses all of
// them, damage ends them.
func (l *Log) prefix(records []byte, maxEpoch kafka.LeaderEpoch) (good []byte, damage, err error) {
	size, end, rising := 0, l.end, true
	for size < len(records) {
		b, _, bad := record.Next(records[size:])
		if errors.Is(bad, record.ErrTruncated) {
			break
		}
		if bad == nil {
			bad = b.Check()
		}
		if bad == nil && b.LastOffsetDelta() < 0 {
			bad = fmt.Errorf("%w: last offset delta %d", record.ErrCorrupt, b.LastOffsetDelta())
		}
		if bad != nil {
			damage = fmt.Errorf("fetched batch after offset %d for %s: %w", end-1, l.dir, bad)
			break
		}
		if b.LeaderEpoch() > maxEpoch {
			break
		}
		rising = rising && b.BaseOffset() >= end
		end = b.NextOffset()
		size += len(b)
	}
	if !rising {
		return nil, nil, &UnexpectedOffsetError{record.Batch(records).BaseOffset(), end - 1, l.end}
	}
	return records[:size], damage, nil
}

// noteEpochs brings the leader epochs of batches into the cache.
func (l *Log) noteEpochs(batches []byte) {
	changed := false
	for len(batches) > 0 {
		b, rest, err := record.Next(batches)
		if err != nil {
			panic("storage: batches that were checked: " + err.Error())
		}
		if e := b.LeaderEpoch(); e >= 0 && l.epochs.assign(e, b.BaseOffset()) {
			changed = true
		}
		batches = rest
	}
	if changed {
		l.saveEpochs()
	}
}
