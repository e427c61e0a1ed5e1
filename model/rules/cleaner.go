package rules

import (
	"math"

	"tidemark/model/kafka"
)

// Cleaner is what the log cleaner decides about a compacted log.
type Cleaner struct {
	// Bound is the first offset that compaction must not touch, as far as
	// replication and transactions are concerned; the active segment and
	// min.compaction.lag.ms bound it further.
	Bound func(CleanableLog) kafka.Offset
	// MayDrop tells whether a tombstone, or a transaction marker whose records
	// are gone, may go.
	MayDrop func(DeleteAge) bool
	// Horizon is the delete horizon, ms, that a kept batch with such a record is
	// stamped with in a pass that began at now; not ok leaves batches unstamped.
	Horizon func(now kafka.Timestamp, deleteRetentionMs int64) (horizon kafka.Timestamp, ok bool)
	// KeepEmpty tells whether a batch stays though none of its records does.
	KeepEmpty func(LastBatch) bool
}

// CleanableLog is what bounds the compaction of a log.
// LastStable ≤ HighWatermark always.
type CleanableLog struct {
	HighWatermark kafka.Offset
	LastStable    kafka.Offset
	// FirstUnstable is the first offset of an undecided transaction, NoOffset
	// if there is none.
	FirstUnstable kafka.Offset
}

// DeleteAge is how old a record is that stands for a deletion. Times are in ms,
// those of segments are the largest of their records.
type DeleteAge struct {
	// Now is when the pass began, Horizon what the batch is stamped with,
	// NoTimestamp (-1) if it is not.
	Now, Horizon kafka.Timestamp
	// Segment is the time of the record's segment, Clean that of the last
	// segment which an earlier pass cleaned, -1 if there was none.
	Segment, Clean kafka.Timestamp
	// DeleteRetentionMs is delete.retention.ms.
	DeleteRetentionMs int64
}

// LastBatch tells for what a batch is the last one.
type LastBatch struct {
	OfProducer bool // that the log still remembers
	OfPass     bool // it ends where the pass ends
}

const never kafka.Timestamp = -1

// currentCleaner compacts what is decided on every replica of the ISR
// (KAFKA-13194, 3.0), counts delete.retention.ms from the first pass that saw a
// tombstone (KIP-534, 3.1) and keeps the ends of producers' histories
// (KAFKA-5490, 0.11.0.1).
func currentCleaner() Cleaner {
	return Cleaner{
		Bound:     func(l CleanableLog) kafka.Offset { return min(l.LastStable, l.HighWatermark) },
		MayDrop:   func(a DeleteAge) bool { return a.Horizon != never && a.Horizon <= a.Now },
		Horizon:   horizonOf,
		KeepEmpty: func(b LastBatch) bool { return b.OfProducer || b.OfPass },
	}
}

// horizonOf is delete.retention.ms after now; a retention that no timestamp can
// hold is for ever.
func horizonOf(now kafka.Timestamp, deleteRetentionMs int64) (kafka.Timestamp, bool) {
	if deleteRetentionMs > math.MaxInt64-int64(now) {
		return math.MaxInt64, true
	}
	return now + kafka.Timestamp(deleteRetentionMs), true
}
