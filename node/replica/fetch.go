package replica

import (
	"tidemark/model/kafka"
	"tidemark/node/storage"
)

// FetchRequest is one partition of a fetch, of a follower or of a consumer.
type FetchRequest struct {
	// Replica is the follower's broker id, NoBroker for a consumer.
	Replica     kafka.BrokerID
	BrokerEpoch kafka.BrokerEpoch // of the follower's process life (KIP-903); NoBrokerEpoch: not told
	TopicID     kafka.UUID        // zero: a version without topic ids (KIP-516)
	// CurrentLeaderEpoch is the epoch in which the sender believes to fetch, and
	// LastFetchedEpoch that of the last record it has (KIP-595); NoEpoch: not told.
	CurrentLeaderEpoch kafka.LeaderEpoch
	LastFetchedEpoch   kafka.LeaderEpoch
	FetchOffset        kafka.Offset
	LogStart           kafka.Offset // the follower's; NoOffset of a consumer
	MaxBytes           int          // soft, see MinOneBatch
	MinOneBatch        bool         // the first batch comes whole, whatever its size
	// ReadCommitted is set for a consumer with isolation.level=read_committed: it
	// reads what is decided, and is told which transactions were aborted (KIP-98).
	ReadCommitted bool
	// OnlyLeader is set for a consumer's fetch below version 11, which does not
	// know that followers can be read (KIP-392). A follower fetches only from
	// leaders.
	OnlyLeader bool
}

func (r FetchRequest) fromFollower() bool { return r.Replica != kafka.NoBroker }

// FetchResult answers a FetchRequest. The offsets are those of before the read,
// NoOffset with an error.
type FetchResult struct {
	Code          kafka.ErrorCode
	HighWatermark kafka.Offset
	LastStable    kafka.Offset
	LogStart      kafka.Offset
	LogEnd        kafka.Offset
	// Aborted lists the aborted transactions that have records in Slice, for a
	// reader of committed ones, by marker; it may name a few more.
	Aborted []storage.AbortedTransaction
	// Diverging, if its Epoch is not NoEpoch, tells that the sender's log has
	// parted from this one; there are no records then.
	Diverging EpochEnd
	// Slice are the records, unread; the caller releases its region.
	Slice storage.Slice
}

// EpochEnd is a leader epoch with the offset after its last record.
type EpochEnd struct {
	Epoch kafka.LeaderEpoch // NoEpoch: undefined
	End   kafka.Offset      // NoOffset: undefined
}

var noEpochEnd = EpochEnd{kafka.NoEpoch, kafka.NoOffset}

// Fetch serves the first read of a fetch. A follower's fetch from offset o says
// that it has everything below o; that is all the leader ever learns of it, and
// all that acks=all rests on.
func (p *Partition) Fetch(r FetchRequest) FetchResult {
	result := p.read(r)
	if !r.fromFollower() || result.Code != kafka.None || result.Diverging != noEpochEnd {
		return result
	}
	if code := p.updateFollowerState(r, result.LogEnd); code != kafka.None {
		result.Slice.Region.Release()
		return fetchError(code)
	}
	return result
}

// ReadAgain serves the read that completes a parked fetch: the same checks, but
// nothing is learned of the follower, which has not moved since.
func (p *Partition) ReadAgain(r FetchRequest) FetchResult { return p.read(r) }

// read is fence, divergence check, read, in this order.
func (p *Partition) read(r FetchRequest) FetchResult {
	if code := p.checkFetch(r); code != kafka.None {
		return fetchError(code)
	}
	result := FetchResult{HighWatermark: p.highWatermark, LastStable: p.log.LastStable(),
		LogStart: p.log.LogStart(), LogEnd: p.log.LogEnd(), Diverging: noEpochEnd}
	diverging, code := p.divergence(r)
	switch {
	case code != kafka.None || r.FetchOffset < result.LogStart: // even if diverging: nothing is left to compare
		return p.outOfRange()
	case diverging != noEpochEnd:
		p.traceEffect("diverging answer")
		result.Diverging = diverging
		return result
	case r.FetchOffset > result.LogEnd:
		return p.outOfRange()
	}
	slice, err := p.log.Read(r.FetchOffset, p.fetchBound(r), r.MaxBytes, r.MinOneBatch)
	if err != nil {
		return fetchError(p.unreadable(err))
	}
	if slice.FirstBatchOversize {
		slice.Region.Release()
		slice = storage.Slice{First: r.FetchOffset}
	}
	result.Slice = slice
	if r.ReadCommitted {
		result.Aborted = p.log.AbortedTransactions(r.FetchOffset, slice)
	}
	return result
}

// checkFetch refuses a fetch for another topic of the same name, of another
// leader epoch, from who is no leader, and of who is no follower.
func (p *Partition) checkFetch(r FetchRequest) kafka.ErrorCode {
	if !r.TopicID.IsZero() && r.TopicID != p.topicID {
		return kafka.InconsistentTopicID
	}
	if code := p.checkAccess(r.CurrentLeaderEpoch, r.fromFollower() || r.OnlyLeader); code != kafka.None {
		return code
	}
	if r.fromFollower() && p.remote(r.Replica) == nil {
		// The sender may know of a reassignment before we do.
		if r.CurrentLeaderEpoch != kafka.NoEpoch {
			return kafka.UnknownLeaderEpoch
		}
		return kafka.NotLeaderOrFollower
	}
	return kafka.None
}

// divergence compares where the sender's last epoch ends here with where it
// fetches. If this log has only an older epoch, or the same epoch ended earlier,
// the sender has records that this log never had: the end is returned (KIP-595).
// If this log does not know the epoch at all the sender is out of range.
func (p *Partition) divergence(r FetchRequest) (EpochEnd, kafka.ErrorCode) {
	if r.LastFetchedEpoch == kafka.NoEpoch {
		return noEpochEnd, kafka.None
	}
	here := p.epochEnd(r.LastFetchedEpoch)
	switch {
	case here == noEpochEnd:
		return noEpochEnd, kafka.OffsetOutOfRange
	case here.Epoch < r.LastFetchedEpoch || here.End < r.FetchOffset:
		return here, kafka.None
	}
	return noEpochEnd, kafka.None
}

// fetchBound is the offset that the reader may not see: followers read to the
// log end, consumers what is committed, or of that what is decided as well.
func (p *Partition) fetchBound(r FetchRequest) kafka.Offset {
	switch {
	case r.fromFollower():
		return p.log.LogEnd()
	case r.ReadCommitted:
		return p.log.LastStable()
	}
	return p.highWatermark
}

func (p *Partition) outOfRange() FetchResult {
	p.traceEffect("fetch out of range")
	return fetchError(kafka.OffsetOutOfRange)
}

func fetchError(code kafka.ErrorCode) FetchResult {
	return FetchResult{Code: code, HighWatermark: kafka.NoOffset, LastStable: kafka.NoOffset,
		LogStart: kafka.NoOffset, LogEnd: kafka.NoOffset, Diverging: noEpochEnd}
}
