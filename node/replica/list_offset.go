package replica

import "tidemark/model/kafka"

// The timestamps of ListOffsets that name an end of the log; 0 and above ask for
// the first record that is not older.
const (
	LatestTimestamp   kafka.Timestamp = -1
	EarliestTimestamp kafka.Timestamp = -2
	// LargestTimestamp asks for the first record with the largest timestamp.
	LargestTimestamp kafka.Timestamp = -3
	// EarliestLocalTimestamp and LatestTieredTimestamp ask where local and where
	// tiered storage begin and end; without tiering (KIP-405) all is local.
	EarliestLocalTimestamp kafka.Timestamp = -4
	LatestTieredTimestamp  kafka.Timestamp = -5
)

const noTimestamp kafka.Timestamp = -1

// ListOffsetRequest is one partition of ListOffsets.
type ListOffsetRequest struct {
	Timestamp          kafka.Timestamp
	CurrentLeaderEpoch kafka.LeaderEpoch // NoEpoch: not told
	FromReplica        bool
	// ReadCommitted is set for a consumer with isolation.level=read_committed.
	ReadCommitted bool
}

// ListOffsetResult is an offset with the leader epoch there. Every field is -1
// where there is none; Timestamp is that of the record found.
type ListOffsetResult struct {
	Offset    kafka.Offset
	Epoch     kafka.LeaderEpoch
	Timestamp kafka.Timestamp
}

var noListOffset = ListOffsetResult{kafka.NoOffset, kafka.NoEpoch, noTimestamp}

// ListOffset answers ListOffsets. A replica may see up to the log end, a consumer
// up to the high watermark, or to the last stable offset.
//
// A new leader's high watermark may lie below the one that consumers saw at the
// old leader, until it has passed the start of the new epoch. Until then a
// consumer is refused whatever depends on it, so that the end of the log never
// goes back (KIP-207, KAFKA-2334).
func (p *Partition) ListOffset(r ListOffsetRequest) (ListOffsetResult, kafka.ErrorCode) {
	if code := p.checkAccess(r.CurrentLeaderEpoch, true); code != kafka.None {
		return noListOffset, code
	}
	bound, guard := p.highWatermark, kafka.None
	if r.FromReplica {
		bound = p.log.LogEnd()
	} else if p.highWatermark < p.epochStart {
		guard = kafka.OffsetNotAvailable
	}
	if r.ReadCommitted && !r.FromReplica {
		bound = p.log.LastStable()
	}
	switch {
	case r.Timestamp == EarliestTimestamp, r.Timestamp == EarliestLocalTimestamp:
		return ListOffsetResult{p.log.LogStart(), p.earliestEpoch(), noTimestamp}, kafka.None
	case r.Timestamp == LatestTieredTimestamp:
		return noListOffset, kafka.None
	case r.Timestamp >= 0:
		return p.offsetByTimestamp(r.Timestamp, bound, guard)
	case r.Timestamp == LargestTimestamp:
		if t := p.log.LargestTimestamp(); t >= 0 {
			return p.offsetByTimestamp(t, bound, guard)
		}
		return noListOffset, guard
	case r.Timestamp != LatestTimestamp:
		return noListOffset, kafka.UnsupportedVersion
	case guard != kafka.None:
		return noListOffset, guard
	}
	return ListOffsetResult{bound, p.leaderEpoch, noTimestamp}, kafka.None
}

// offsetByTimestamp finds the first record below bound that is not older than t.
func (p *Partition) offsetByTimestamp(t kafka.Timestamp, bound kafka.Offset, guard kafka.ErrorCode) (ListOffsetResult, kafka.ErrorCode) {
	found, ok, err := p.log.FindTimestamp(t)
	switch {
	case err != nil:
		return noListOffset, p.unreadable(err)
	case ok && found.Offset < bound:
		return ListOffsetResult{found.Offset, found.Epoch, found.Timestamp}, kafka.None
	}
	return noListOffset, guard
}

// earliestEpoch is the epoch of the first record, if the epoch cache reaches
// back that far.
func (p *Partition) earliestEpoch() kafka.LeaderEpoch {
	if entries := p.log.Epochs().Entries(); len(entries) > 0 && entries[0].Start <= p.log.LogStart() {
		return entries[0].Epoch
	}
	return kafka.NoEpoch
}
