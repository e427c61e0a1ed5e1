package storage

import (
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

// validate checks the records of a batch from a client and finds the largest
// timestamp that the batch is to carry.
func (l *Log) validate(b record.Batch, now kafka.Timestamp) (largest kafka.Timestamp, invalid []RecordError, code kafka.ErrorCode) {
	switch count := b.LastOffsetDelta() + 1; {
	case count <= 0, count != b.Count(), b.IsControl(), b.ProducerID() != kafka.NoProducerID && b.BaseSequence() < 0:
		return 0, nil, kafka.InvalidRecord
	case b.Compression() != record.None:
		return 0, nil, kafka.UnsupportedCompressionType
	}
	largest, code = record.NoTimestamp, kafka.None
	it := &l.records
	for it.Reset(b); it.Next(); {
		r := it.Record()
		c, why := l.validateRecord(b, r, now)
		if c != kafka.None {
			invalid = append(invalid, RecordError{int32(r.Offset - b.BaseOffset()), why})
		}
		if c == kafka.InvalidTimestamp || code == kafka.None {
			code = c
		}
		largest = max(largest, r.Timestamp)
	}
	if it.Err() != nil {
		return 0, nil, kafka.InvalidRecord
	}
	if l.cfg.TimestampType == record.LogAppendTime {
		largest = now
	}
	return largest, invalid, code
}

// validateRecord checks one record: a key where the topic is compacted, then
// its timestamp. A producer must not mark its batch as stamped by the broker;
// on a CreateTime topic Kafka sees that only where the range is not checked.
func (l *Log) validateRecord(b record.Batch, r record.Record, now kafka.Timestamp) (kafka.ErrorCode, string) {
	if l.cfg.Compacted && r.Key == nil {
		return kafka.InvalidRecord, "a record of a compacted topic needs a key"
	}
	if l.cfg.TimestampType == record.CreateTime && r.Timestamp != record.NoTimestamp {
		before := int64(now - r.Timestamp)
		if before > l.cfg.TimestampBeforeMaxMs || before < -l.cfg.TimestampAfterMaxMs {
			return kafka.InvalidTimestamp, fmt.Sprintf("timestamp %d is more than %d ms before or %d ms after the leader's clock, %d",
				r.Timestamp, l.cfg.TimestampBeforeMaxMs, l.cfg.TimestampAfterMaxMs, now)
		}
	} else if b.TimestampType() == record.LogAppendTime {
		return kafka.InvalidTimestamp, "a producer's batch must have timestamp type CreateTime"
	}
	return kafka.None, ""
}
