package replica

import (
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node/storage"
)

// The values of acks that a produce request may carry.
const (
	AcksNone   int16 = 0  // no answer at all
	AcksLeader int16 = 1  // answer once the leader has appended
	AcksAll    int16 = -1 // answer once the high watermark has passed the batch
)

// ValidAcks reports whether acks is one of them; else INVALID_REQUIRED_ACKS.
func ValidAcks(acks int16) bool {
	return acks == AcksNone || acks == AcksLeader || acks == AcksAll
}

// ProduceResult tells where a batch was appended.
type ProduceResult struct {
	First, Last kafka.Offset // of its records; the old ones if it is a duplicate
	LogStart    kafka.Offset
	// LogAppendTime is the broker's time in the batch, -1 if the topic keeps the
	// producer's (message.timestamp.type=CreateTime); of a duplicate always the
	// batch's largest time.
	LogAppendTime kafka.Timestamp
	// FlushDue: flush.messages is reached, for which Kafka fsyncs within the append, or
	// rolled segments outrun their fsyncs. The answer leaves only after Log().Flush is
	// done.
	FlushDue bool
	// Invalid tells what was wrong with INVALID_RECORD and INVALID_TIMESTAMP.
	Invalid []storage.RecordError
}

// AppendAsLeader appends one batch of a producer and stamps offsets and leader
// epoch into it. With acks=all it refuses before anything is appended if the ISR
// is too small already; that the ISR may shrink later is checked when the answer
// is due, by committed. A batch that the log has already, sent again by a producer
// with idempotence, is answered like the first time (KIP-98).
func (p *Partition) AppendAsLeader(batch record.Batch, acks int16) (ProduceResult, kafka.ErrorCode) {
	if code := p.checkAccess(kafka.NoEpoch, true); code != kafka.None {
		return ProduceResult{}, code
	}
	if acks == AcksAll && p.underMinISR() {
		return ProduceResult{}, kafka.NotEnoughReplicas
	}
	now := p.host.Wall()
	appended, code, err := p.log.AppendAsLeader(batch, p.leaderEpoch, now)
	return p.appended(now, appended, code, err)
}

// AppendMarker appends the marker that ends a producer's transaction here, as the
// transaction coordinator asks (KIP-98). It counts once it is committed, as a batch
// with acks=all does: the caller waits for Last + 1 in the same way.
func (p *Partition) AppendMarker(m storage.Marker) (ProduceResult, kafka.ErrorCode) {
	if code := p.checkAccess(kafka.NoEpoch, true); code != kafka.None {
		return ProduceResult{}, code
	}
	if p.underMinISR() {
		return ProduceResult{}, kafka.NotEnoughReplicas
	}
	now := p.host.Wall()
	appended, code, err := p.log.AppendMarker(m, p.leaderEpoch, now)
	return p.appended(now, appended, code, err)
}

// appended ends an append as leader at the time now.
func (p *Partition) appended(now kafka.Timestamp, appended storage.Appended, code kafka.ErrorCode, err error) (ProduceResult, kafka.ErrorCode) {
	if err != nil {
		return ProduceResult{}, p.storageFailed(err)
	}
	if code != kafka.None {
		return ProduceResult{Invalid: appended.Invalid}, code
	}
	result := ProduceResult{First: appended.First, Last: appended.Last, LogStart: p.log.LogStart(),
		LogAppendTime: p.logAppendTime(now), FlushDue: appended.FlushDue}
	if appended.Duplicate {
		result.LogAppendTime = appended.Timestamp // as Kafka answers, whoever stamped it
		p.traceDuplicate(appended)
	}
	p.traceAppended(appended.Batches)
	p.maybeIncrementHighWatermark()
	p.host.Changed(p.tp) // fetches wait for the log end too
	return result, kafka.None
}

// logAppendTime is the time that an append at the time now has stamped into the
// batch.
func (p *Partition) logAppendTime(now kafka.Timestamp) kafka.Timestamp {
	if p.log.Config().TimestampType == record.LogAppendTime {
		return now
	}
	return noTimestamp
}

// committed reports whether everything below required is committed, which is
// what acks=all waits for. Any code but None then means that the outcome is
// unknown: the records are in the leader's log.
func (p *Partition) committed(required kafka.Offset) (done bool, code kafka.ErrorCode) {
	switch {
	case p.log.Failed() != nil:
		return true, kafka.KafkaStorageError
	case !p.IsLeader():
		return true, kafka.NotLeaderOrFollower
	case p.highWatermark < required:
		return false, kafka.None
	case len(p.isr.maximal) < p.effectiveMinISR():
		return true, kafka.NotEnoughReplicasAfterAppend
	}
	return true, kafka.None
}
