package record

import (
	"encoding/binary"
	"hash/crc32"

	"tidemark/model/kafka"
)

// Overhead is the size in bytes of a batch before its records.
const Overhead = 61

// Magic is the version byte of the one batch format that Kafka 4 writes.
const Magic = 2

// Byte positions of the fields, see the package comment.
const (
	atBaseOffset    = 0
	atLength        = 8
	atLeaderEpoch   = 12
	atMagic         = 16
	atCRC           = 17
	atAttributes    = 21
	atLastDelta     = 23
	atBaseTimestamp = 27
	atMaxTimestamp  = 35
	atProducerID    = 43
	atProducerEpoch = 51
	atBaseSequence  = 53
	atCount         = 57
)

// LogOverhead is the size in bytes of the fields that the length field does not
// count: base offset and the length itself.
const LogOverhead = 12

// Attribute bits.
const (
	codecMask        = 0x07
	timestampTypeBit = 0x08
	transactionalBit = 0x10
	controlBit       = 0x20
	horizonBit       = 0x40
)

// NoTimestamp stands for a timestamp that is not known.
const NoTimestamp kafka.Timestamp = -1

// NoSequence marks a batch without idempotence.
const NoSequence kafka.Sequence = -1

// TimestampType says who set the timestamps of a batch (KIP-32).
type TimestampType uint8

// The values of message.timestamp.type.
const (
	CreateTime    TimestampType = iota // the producer, one per record
	LogAppendTime                      // the leader, one for the batch: its max timestamp
)

// String writes the type as the configuration does.
func (t TimestampType) String() string {
	if t == LogAppendTime {
		return "LogAppendTime"
	}
	return "CreateTime"
}

// Codec is the compression of a batch's records; 5 to 7 are not assigned.
type Codec uint8

// Kafka's compression codecs.
const (
	None Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd // KIP-110
)

var codecNames = [...]string{"none", "gzip", "snappy", "lz4", "zstd", "codec 5", "codec 6", "codec 7"}

// String names the codec as compression.type does.
func (c Codec) String() string { return codecNames[c&codecMask] }

// Batch is exactly one record batch of version 2, from its base offset to its
// last byte. The accessors decode in place and want at least Overhead bytes,
// which every Batch from Next or a Builder has.
type Batch []byte

// BaseOffset is the offset of the first record when the batch was written;
// compaction may have removed that record.
func (b Batch) BaseOffset() kafka.Offset {
	return kafka.Offset(binary.BigEndian.Uint64(b[atBaseOffset:]))
}

// LastOffset is the offset of the last record when the batch was written.
func (b Batch) LastOffset() kafka.Offset {
	return b.BaseOffset() + kafka.Offset(b.LastOffsetDelta())
}

// NextOffset is the first offset after the batch.
func (b Batch) NextOffset() kafka.Offset { return b.LastOffset() + 1 }

// Length is the value of the length field in bytes: all but LogOverhead.
func (b Batch) Length() int32 { return int32(binary.BigEndian.Uint32(b[atLength:])) }

// LeaderEpoch is the epoch of the leader that appended the batch.
func (b Batch) LeaderEpoch() kafka.LeaderEpoch {
	return kafka.LeaderEpoch(binary.BigEndian.Uint32(b[atLeaderEpoch:]))
}

// Magic is the format version.
func (b Batch) Magic() int8 { return int8(b[atMagic]) }

// CRC is the stored CRC-32C.
func (b Batch) CRC() uint32 { return binary.BigEndian.Uint32(b[atCRC:]) }

// Attributes are the attribute bits.
func (b Batch) Attributes() int16 { return int16(binary.BigEndian.Uint16(b[atAttributes:])) }

// Compression is the codec of the records.
func (b Batch) Compression() Codec { return Codec(b.Attributes() & codecMask) }

// TimestampType tells who set the timestamps.
func (b Batch) TimestampType() TimestampType {
	if b.Attributes()&timestampTypeBit != 0 {
		return LogAppendTime
	}
	return CreateTime
}

// IsTransactional reports whether the batch belongs to a transaction (KIP-98).
func (b Batch) IsTransactional() bool { return b.Attributes()&transactionalBit != 0 }

// IsControl reports whether the records are control records.
func (b Batch) IsControl() bool { return b.Attributes()&controlBit != 0 }

// LastOffsetDelta is LastOffset - BaseOffset.
func (b Batch) LastOffsetDelta() int32 { return int32(binary.BigEndian.Uint32(b[atLastDelta:])) }

// BaseTimestamp is what the records' timestamp deltas count from.
func (b Batch) BaseTimestamp() kafka.Timestamp {
	return kafka.Timestamp(binary.BigEndian.Uint64(b[atBaseTimestamp:]))
}

// MaxTimestamp is the largest timestamp of the records.
func (b Batch) MaxTimestamp() kafka.Timestamp {
	return kafka.Timestamp(binary.BigEndian.Uint64(b[atMaxTimestamp:]))
}

// ProducerID is the idempotent producer, or NoProducerID.
func (b Batch) ProducerID() kafka.ProducerID {
	return kafka.ProducerID(binary.BigEndian.Uint64(b[atProducerID:]))
}

// ProducerEpoch is the epoch of the producer, -1 for none.
func (b Batch) ProducerEpoch() kafka.ProducerEpoch {
	return kafka.ProducerEpoch(binary.BigEndian.Uint16(b[atProducerEpoch:]))
}

// BaseSequence is the sequence of the first record, or NoSequence.
func (b Batch) BaseSequence() kafka.Sequence {
	return kafka.Sequence(binary.BigEndian.Uint32(b[atBaseSequence:]))
}

// LastSequence is the sequence of the last record, or NoSequence; sequences go
// on from 2^31-1 to 0.
func (b Batch) LastSequence() kafka.Sequence {
	base := b.BaseSequence()
	if base == NoSequence {
		return NoSequence
	}
	return kafka.Sequence((uint32(base) + uint32(b.LastOffsetDelta())) & 0x7fffffff)
}

// Count is the number of records in the batch.
func (b Batch) Count() int32 { return int32(binary.BigEndian.Uint32(b[atCount:])) }

// SetBaseOffset stamps the base offset; the CRC does not cover it.
func (b Batch) SetBaseOffset(o kafka.Offset) {
	binary.BigEndian.PutUint64(b[atBaseOffset:], uint64(o))
}

// SetLeaderEpoch stamps the leader epoch; the CRC does not cover it.
func (b Batch) SetLeaderEpoch(e kafka.LeaderEpoch) {
	binary.BigEndian.PutUint32(b[atLeaderEpoch:], uint32(e))
}

// SetMaxTimestamp sets the largest timestamp and who set it. The CRC covers
// both and is computed again if one of them changed.
func (b Batch) SetMaxTimestamp(t kafka.Timestamp, by TimestampType) {
	if b.MaxTimestamp() == t && b.TimestampType() == by {
		return
	}
	attributes := b.Attributes() &^ timestampTypeBit
	if by == LogAppendTime {
		attributes |= timestampTypeBit
	}
	binary.BigEndian.PutUint16(b[atAttributes:], uint16(attributes))
	binary.BigEndian.PutUint64(b[atMaxTimestamp:], uint64(t))
	b.seal()
}

// seal computes the CRC and stores it.
func (b Batch) seal() { binary.BigEndian.PutUint32(b[atCRC:], b.checksum()) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (b Batch) checksum() uint32 { return crc32.Checksum(b[atAttributes:], castagnoli) }
