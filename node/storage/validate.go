package storage

import (
	"errors"
	"fmt"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// RecordError says why one record of a produced batch is invalid (KIP-467).
type RecordError struct {
	Index   int32 // in the batch, from 0
	Message string
}

// admit is what the leader checks before anything else, in Kafka's order. That
// the size comes before the CRC decides what a producer sees of a batch that is
// too large and damaged.
func (l *Log) admit(b record.Batch) kafka.ErrorCode {
	switch {
	case len(b) < record.Overhead:
		return kafka.CorruptMessage
	case b.BaseOffset() != 0:
		return kafka.InvalidRecord
	case len(b) > int(l.cfg.MaxMessageBytes):
		return kafka.MessageTooLarge
	case b.Check() != nil:
		return kafka.CorruptMessage
	}
	return kafka.None
}

// validated is what validate found out about a batch.
type validated struct {
	largest kafka.Timestamp // that the batch is to carry
	rebuild bool            // it cannot be stored as it was sent
	invalid []RecordError
}

// validate checks the records of a batch from a client.
func (l *Log) validate(b record.Batch, now kafka.Timestamp) (v validated, code kafka.ErrorCode) {
	count := b.LastOffsetDelta() + 1
	if count <= 0 || count != b.Count() || b.IsControl() || b.ProducerID() != kafka.NoProducerID && b.BaseSequence() < 0 {
		return v, kafka.InvalidRecord
	}
	v.largest = record.NoTimestamp
	v.rebuild = b.Compression() != l.cfg.codecFor(b)
	if e, ok := b.Extent(); ok && l.allValid(e, now) {
		v.largest = max(e.Latest, record.NoTimestamp)
		if l.cfg.TimestampType == record.LogAppendTime {
			v.largest = now
		}
		return v, kafka.None
	}
	it := &l.records
	index := int32(0)
	for it.ResetWith(l.inflater, b); it.Next(); index++ {
		r := it.Record()
		c, why := l.validateRecord(b, r.Key == nil, r.Timestamp, now)
		if c != kafka.None {
			v.invalid = append(v.invalid, RecordError{index, why})
		}
		if c == kafka.InvalidTimestamp || code == kafka.None {
			code = c
		}
		v.largest = max(v.largest, r.Timestamp)
		if b.Compression() != record.None && r.Offset-b.BaseOffset() != kafka.Offset(index) {
			v.rebuild = true
		}
	}
	if err := it.Err(); err != nil {
		if errors.Is(err, record.ErrCompressed) {
			return validated{}, kafka.UnsupportedCompressionType
		}
		return validated{}, kafka.InvalidRecord
	}
	if l.cfg.TimestampType == record.LogAppendTime {
		v.largest = now
	}
	return v, code
}

// allValid tells that validateRecord has no fault to find in a batch of uncompressed
// records with a producer's timestamps.
func (l *Log) allValid(e record.Extent, now kafka.Timestamp) bool {
	switch {
	case l.cfg.Compacted && e.Keyless:
		return false
	case l.cfg.TimestampType == record.LogAppendTime:
		return true
	}
	return e.Earliest >= record.NoTimestamp && int64(now-e.Earliest) <= l.cfg.TimestampBeforeMaxMs && int64(now-e.Latest) >= -l.cfg.TimestampAfterMaxMs
}

// rebuilt is b, which validate has walked, with offset deltas from 0 on and under
// the topic's codec: a batch of its own.
func (l *Log) rebuilt(b record.Batch) record.Batch {
	w := record.NewBuilder(record.BuilderOptions{LeaderEpoch: b.LeaderEpoch(), ProducerID: b.ProducerID(), ProducerEpoch: b.ProducerEpoch(),
		BaseSequence: b.BaseSequence(), Transactional: b.IsTransactional()})
	it := &l.records
	for it.ResetWith(l.inflater, b); it.Next(); {
		r := it.Record()
		w.Append(r.Timestamp, r.Key, r.Value, r.Headers)
	}
	return w.BuildCompressed(l.deflater, l.cfg.codecFor(b))
}

// validateRecord checks one record: a key where the topic is compacted, then
// its timestamp. A producer must not mark its batch as stamped by the broker;
// on a CreateTime topic Kafka sees that only where the range is not checked.
func (l *Log) validateRecord(b record.Batch, keyless bool, stamp, now kafka.Timestamp) (kafka.ErrorCode, string) {
	if l.cfg.Compacted && keyless {
		return kafka.InvalidRecord, "a record of a compacted topic needs a key"
	}
	if l.cfg.TimestampType == record.CreateTime && stamp != record.NoTimestamp {
		before := int64(now - stamp)
		if before > l.cfg.TimestampBeforeMaxMs || before < -l.cfg.TimestampAfterMaxMs {
			return kafka.InvalidTimestamp, fmt.Sprintf("timestamp %d is more than %d ms before or %d ms after the leader's clock, %d",
				stamp, l.cfg.TimestampBeforeMaxMs, l.cfg.TimestampAfterMaxMs, now)
		}
	} else if b.TimestampType() == record.LogAppendTime {
		return kafka.InvalidTimestamp, "a producer's batch must have timestamp type CreateTime"
	}
	return kafka.None, ""
}
