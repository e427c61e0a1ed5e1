package storage

import (
	"math"
	"math/bits"

	"tidemark/model/kafka"
	"tidemark/model/rules"
)

// CleanerCheckpoint is the file of a log directory with a line for each log that
// was cleaned: the offset up to which.
const CleanerCheckpoint = "cleaner-offset-checkpoint"

// CleanedUpTo is the log's line in the cleaner's checkpoint: below it every key
// has one record, beyond what the cleaner must keep. 0 wants no line. It rises
// with each pass, and falls when a truncation reaches below it.
func (l *Log) CleanedUpTo() kafka.Offset { return l.cleanedUpTo }

// dirtyRange is what a pass over a log could clean.
//
//	log start      dirty            end
//	    │  cleaned   │  to be cleaned │ active, or not decided, or too young
//	────┴────────────┴────────────────┴──────────
//
// end is always the base offset of a segment: segments are cleaned as a whole.
type dirtyRange struct {
	log        *Log
	dirty, end kafka.Offset
	// clean and cleanable are the bytes of the segments that begin before dirty, and
	// of those from there to end. A pass that could not remember all keys ends
	// inside a segment, which then counts on both sides, as in Kafka.
	clean, cleanable int64
	// overdue tells that the oldest record to be cleaned is older than
	// max.compaction.lag.ms.
	overdue bool
}

// dirtyRange finds out what there is to clean at wall time now.
func (l *Log) dirtyRange(bound func(rules.CleanableLog) kafka.Offset, now kafka.Timestamp) (dirtyRange, error) {
	r := dirtyRange{log: l, dirty: l.firstDirty()}
	r.end = max(r.dirty, l.firstUncleanable(bound, r.dirty, now))
	r.end = l.segments[l.floor(r.end)].base
	from := l.segments[l.floor(min(r.dirty, r.end))].base
	for _, s := range l.segments {
		if s.base < r.dirty {
			r.clean += s.size
		}
		if s.base >= from && s.base < r.end {
			r.cleanable += s.size
		}
	}
	oldest, err := l.oldestDirty(r.dirty)
	r.overdue = oldest < now-kafka.Timestamp(max(l.cfg.MaxCompactionLagMs, 0))
	return r, err
}

// firstDirty is where the cleaning goes on: the checkpoint, or the log start if
// the log was truncated or deleted past it.
func (l *Log) firstDirty() kafka.Offset {
	if l.cleanedUpTo < l.start || l.cleanedUpTo > l.end {
		return l.start
	}
	return l.cleanedUpTo
}

// firstUncleanable is the first offset that must be left alone: that of the policy, of
// the active segment, of the first dirty segment with a record younger than
// min.compaction.lag.ms, and of what is not durable. Kafka cleans that too; but a
// start after a crash that finds two segments apart takes what was between for
// lost, unless it may trust them.
func (l *Log) firstUncleanable(bound func(rules.CleanableLog) kafka.Offset, dirty kafka.Offset, now kafka.Timestamp) kafka.Offset {
	unstable, open := l.FirstUnstable()
	if !open {
		unstable = kafka.NoOffset
	}
	first := bound(rules.CleanableLog{HighWatermark: l.highWatermark, LastStable: l.LastStable(), FirstUnstable: unstable})
	first = min(first, l.active().base, l.recovery)
	if l.cfg.MinCompactionLagMs <= 0 {
		return first
	}
	for _, s := range l.dirtySegments(dirty) {
		if s.largest.timestamp > now-kafka.Timestamp(l.cfg.MinCompactionLagMs) {
			return min(first, s.base)
		}
	}
	return first
}

// dirtySegments are those from the one that holds offset dirty on, but the active
// one.
func (l *Log) dirtySegments(dirty kafka.Offset) []*segment {
	return l.segments[min(l.floor(dirty), len(l.segments)-1) : len(l.segments)-1]
}

// oldestDirty is the least time that a dirty segment begins with, that of its
// first batch; the largest timestamp there is if none has one.
func (l *Log) oldestDirty(dirty kafka.Offset) (kafka.Timestamp, error) {
	oldest := kafka.Timestamp(math.MaxInt64)
	for _, s := range l.dirtySegments(dirty) {
		if s.first < 0 {
			if err := s.readFirst(&l.walk); err != nil {
				return 0, err
			}
		}
		if s.first > 0 {
			oldest = min(oldest, s.first)
		}
	}
	return oldest, nil
}

// wants tells whether a pass over the log is due: the dirty part is large enough,
// or overdue.
func (r dirtyRange) wants() bool {
	if r.cleanable == 0 {
		return false
	}
	return r.overdue || r.cleanable*million > (r.clean+r.cleanable)*r.log.cfg.MinCleanableRatio
}

// filthier compares the dirty parts of two logs.
func (r dirtyRange) filthier(o dirtyRange) bool {
	ah, al := bits.Mul64(uint64(r.cleanable), uint64(o.clean+o.cleanable))
	bh, bl := bits.Mul64(uint64(o.cleanable), uint64(r.clean+r.cleanable))
	return ah > bh || ah == bh && al > bl
}
