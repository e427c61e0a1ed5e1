package storage

import (
	"errors"
	"slices"

	"tidemark/model/kafka"
)

// retentionRule tells whether a segment, which ends at offset next, may go; it is
// asked about each from the oldest on, until one stays.
type retentionRule func(s *segment, next kafka.Offset) bool

// DeleteOldSegments applies retention at wall time now, ms, as Kafka does to
// every log, of leader and follower alike, each log.retention.check.interval.ms.
// Three rules come in turn: segments go that lie below the log start, that make
// the log larger than retention.bytes, whose records are all older than
// retention.ms; the last two only if cleanup.policy has delete. A segment stays
// whose records are not all below the high watermark. The active one may go too:
// then a new one takes its place first. The log start rises before files go.
// deleted is the number of segments that went; an error is the disk's, and the
// log has failed.
func (l *Log) DeleteOldSegments(now kafka.Timestamp) (deleted int, err error) {
	if l.failed != nil {
		return 0, l.offline()
	}
	l.clock = now
	if deleted, err = l.deleteOldest(l.belowStart); err != nil || !l.cfg.Delete {
		return deleted, err
	}
	n, err := l.deleteOldest(l.overSize())
	if deleted += n; err != nil {
		return deleted, err
	}
	n, err = l.deleteOldest(l.overAge(now))
	return deleted + n, err
}

func (l *Log) belowStart(s *segment, next kafka.Offset) bool {
	return s != l.active() && next <= l.start
}

// overSize lets segments go as long as the others still have retention.bytes.
func (l *Log) overSize() retentionRule {
	excess := l.Size() - l.cfg.RetentionBytes
	return func(s *segment, _ kafka.Offset) bool {
		excess -= s.size
		return l.cfg.RetentionBytes >= 0 && excess >= 0
	}
}

// overAge lets a segment go whose youngest record is too old. Where no record has
// a time, that of the segment counts: when it was made or opened; Kafka takes the
// file's.
func (l *Log) overAge(now kafka.Timestamp) retentionRule {
	return func(s *segment, _ kafka.Offset) bool {
		youngest := s.largest.timestamp
		if youngest < 0 {
			youngest = s.created
		}
		return l.cfg.RetentionMs >= 0 && int64(now-youngest) > l.cfg.RetentionMs
	}
}

// deleteOldest deletes the oldest segments that the rule lets go.
func (l *Log) deleteOldest(rule retentionRule) (deleted int, err error) {
	n := l.deletable(rule)
	if n == 0 {
		return 0, nil
	}
	if n == len(l.segments) {
		if err := l.roll(l.end); err != nil {
			return 0, err
		}
	}
	if err := l.RaiseLogStart(l.segments[n].base); err != nil {
		return 0, err
	}
	l.recent = recentPlaces{}
	if slices.ContainsFunc(l.segments[:n], (*segment).unsynced) {
		// No later flush completes before what a start walked, and a crash may bring back.
		if l.begin(&flushOp{upTo: l.recovery}); l.failed != nil {
			return 0, l.offline()
		}
	}
	for range n {
		s := l.segments[0]
		l.segments = l.segments[1:]
		if err := errors.Join(l.abortCleaning(), l.retireOldest(s), l.retireSnapshot(s.base)); err != nil {
			return deleted, l.failing("delete old segments of", err)
		}
		deleted++
	}
	l.raiseProducers()
	return deleted, nil
}

// deletable counts the oldest segments that the rule lets go. An empty active one
// stays.
func (l *Log) deletable(rule retentionRule) (n int) {
	for i, s := range l.segments {
		next := l.end
		if i+1 < len(l.segments) {
			next = l.segments[i+1].base
		} else if s.size == 0 {
			return n
		}
		if l.highWatermark < next || !rule(s, next) {
			return n
		}
		n++
	}
	return n
}
