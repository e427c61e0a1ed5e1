package replica

import (
	"errors"
	"slices"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// FetchAnswer is one partition of the leader's answer to a fetch.
type FetchAnswer struct {
	TP            kafka.TopicPartition
	Code          kafka.ErrorCode
	HighWatermark kafka.Offset
	LogStart      kafka.Offset
	Diverging     EpochEnd // its Epoch is NoEpoch if the logs agree so far
	Records       []byte   // whole batches; the last may be cut off
}

// HandleFetch takes the leader's answer to the fetch in flight. Partitions that
// it leaves out have nothing new; with none at all (the leader forgot the fetch
// session) the next request is due at once.
func (f *Fetcher) HandleFetch(answers []FetchAnswer) {
	for _, a := range answers {
		e := f.byTP[a.TP]
		ask, asked := f.sent[a.TP]
		if e == nil || !asked || ask.FetchOffset != e.offset || ask.CurrentLeaderEpoch != e.epoch {
			continue // removed, or cut, since: the answer speaks of another log
		}
		f.handlePartition(e, a)
	}
	f.inFlight = false
}

// HandleFailure takes the loss of the request in flight: a lost connection, a
// time-out, an error for the request as a whole. After a lost fetch every
// partition backs off.
func (f *Fetcher) HandleFailure() {
	if f.asking != nil {
		f.HandleListOffset(kafka.UnknownServerError, kafka.NoOffset)
		return
	}
	for _, e := range slices.Clone(f.order) {
		f.backOff(e)
	}
	f.inFlight = false
}

func (f *Fetcher) handlePartition(e *fetchEntry, a FetchAnswer) {
	switch a.Code {
	case kafka.None:
		if a.Diverging.Epoch != kafka.NoEpoch {
			f.handleDiverging(e, a.Diverging)
		} else {
			f.handleRecords(e, a)
		}
	case kafka.OffsetOutOfRange:
		e.state = askingLatest
	case kafka.FencedLeaderEpoch:
		f.fail(e) // the metadata that makes us newer is on its way
	default:
		f.backOff(e)
	}
}

// handleDiverging cuts and does nothing else. The high watermark and log start
// in the same answer belong to records that this log does not have yet; taken
// now they would show consumers what is about to be cut (KAFKA-14704).
func (f *Fetcher) handleDiverging(e *fetchEntry, leader EpochEnd) {
	f.cut(e, func() error { return e.partition.truncateToEpochEnd(leader) })
}

// handleRecords appends, then takes the leader's high watermark as far as the log
// now reaches, then its log start.
func (f *Fetcher) handleRecords(e *fetchEntry, a FetchAnswer) {
	p := e.partition
	if e.offset != p.log.LogEnd() {
		f.fail(e)
		return
	}
	recoveryPoint := p.log.RecoveryPoint()
	appended, err := p.appendAsFollower(a.Records, e.epoch)
	f.keepRecoveryPoint(p, recoveryPoint)
	if n := len(appended.Batches); n > 0 {
		e.offset, e.lastEpoch = p.log.LogEnd(), appended.Batches[n-1].Epoch
		f.moveToEnd(e)
	}
	switch {
	case errors.Is(err, record.ErrCorrupt):
		f.backOff(e) // on the way here, or at the leader for a moment
		return
	case err != nil:
		f.fail(e)
		return
	}
	p.followHighWatermark(a.HighWatermark)
	if p.followLogStart(a.LogStart) != nil {
		f.fail(e)
		return
	}
	if appended.FlushDue {
		done := f.await()
		p.log.Flush(func(error) { done() })
	}
}
