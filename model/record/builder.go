package record

import (
	"encoding/binary"

	"tidemark/model/kafka"
)

// BuilderOptions are the fields of a batch that its records do not give. The
// zero value names producer 0: start from NoProducer.
type BuilderOptions struct {
	BaseOffset    kafka.Offset // producers write 0
	LeaderEpoch   kafka.LeaderEpoch
	TimestampType TimestampType
	ProducerID    kafka.ProducerID
	ProducerEpoch kafka.ProducerEpoch
	BaseSequence  kafka.Sequence
	Transactional bool
	Control       bool
	// horizon tells that the base timestamp is a delete horizon.
	horizon bool
}

// NoProducer are the options of a plain batch as a producer without idempotence
// sends it: offset 0, no leader epoch, no producer id.
func NoProducer() BuilderOptions {
	return BuilderOptions{LeaderEpoch: kafka.NoEpoch, ProducerID: kafka.NoProducerID, ProducerEpoch: -1, BaseSequence: NoSequence}
}

// Builder writes the records of one batch after another into one buffer.
type Builder struct {
	options BuilderOptions
	buf     []byte // Overhead bytes, then the records
	count   int32
	base    kafka.Timestamp // of the first record, or the delete horizon
	max     kafka.Timestamp
	built   bool
	of      Batch // that the records are kept of; nil for a new batch
}

// NewBuilder returns a builder of an empty batch.
func NewBuilder(o BuilderOptions) *Builder {
	b := &Builder{}
	b.Reset(o)
	return b
}

// Reset starts a new batch in the same buffer: what Build returned before is
// overwritten.
func (w *Builder) Reset(o BuilderOptions) {
	if w.buf == nil {
		w.buf = make([]byte, Overhead, 8*Overhead)
	}
	*w = Builder{options: o, buf: w.buf[:Overhead], max: NoTimestamp}
}

// Append adds a record; a nil key or value is null. Its offset is the base
// offset plus the number of records before it.
func (w *Builder) Append(ts kafka.Timestamp, key, value []byte, headers []Header) {
	if w.count == 0 {
		w.base = ts
	}
	w.add(w.count, ts, key, value, headers)
}

// add appends a record with the given offset delta.
func (w *Builder) add(offset int32, ts kafka.Timestamp, key, value []byte, headers []Header) {
	if w.built {
		panic("record: append to a batch that was built: call Reset first")
	}
	delta := int64(ts - w.base)
	w.buf = binary.AppendVarint(w.buf, int64(bodySize(offset, delta, key, value, headers)))
	w.buf = append(w.buf, 0)
	w.buf = binary.AppendVarint(w.buf, delta)
	w.buf = binary.AppendVarint(w.buf, int64(offset))
	w.buf = appendBytes(w.buf, key)
	w.buf = appendBytes(w.buf, value)
	w.buf = binary.AppendVarint(w.buf, int64(len(headers)))
	for i := range headers {
		w.buf = binary.AppendVarint(w.buf, int64(len(headers[i].Key)))
		w.buf = append(w.buf, headers[i].Key...)
		w.buf = appendBytes(w.buf, headers[i].Value)
	}
	w.count++
	w.max = max(w.max, ts)
}

func appendBytes(dst, b []byte) []byte {
	if b == nil {
		return binary.AppendVarint(dst, -1)
	}
	return append(binary.AppendVarint(dst, int64(len(b))), b...)
}

// Size is the size in bytes of the batch as it is now.
func (w *Builder) Size() int { return len(w.buf) }

// Count is the number of records so far.
func (w *Builder) Count() int { return int(w.count) }

// Build fills in the header and returns the batch, which aliases the builder's
// buffer until Reset. A batch without records is a bug of the caller.
func (w *Builder) Build() Batch {
	w.finish(w.buf, None)
	return w.buf
}

// BuildCompressed returns the batch with its records compressed, also where that
// makes it larger, as Kafka does. The batch has memory of its own.
func (w *Builder) BuildCompressed(f *Deflater, c Codec) Batch {
	dst := make([]byte, Overhead, Overhead+len(w.buf)/2)
	if c == None {
		dst = append(dst, w.buf[Overhead:]...)
	} else {
		dst = f.deflate(c, dst, w.buf[Overhead:])
	}
	w.finish(dst, c)
	return dst
}

// finish writes the header of the builder's batch, whose records begin at
// Overhead, compressed with c.
func (w *Builder) finish(b Batch, c Codec) {
	if w.count == 0 {
		panic("record: a batch needs at least one record")
	}
	w.built = true
	o := w.options
	binary.BigEndian.PutUint64(b[atBaseOffset:], uint64(o.BaseOffset))
	binary.BigEndian.PutUint32(b[atLength:], uint32(len(b)-LogOverhead))
	binary.BigEndian.PutUint32(b[atLeaderEpoch:], uint32(o.LeaderEpoch))
	b[atMagic] = Magic
	binary.BigEndian.PutUint16(b[atAttributes:], uint16(o.attributes())|uint16(c))
	binary.BigEndian.PutUint32(b[atLastDelta:], uint32(w.count-1))
	binary.BigEndian.PutUint64(b[atBaseTimestamp:], uint64(w.base))
	binary.BigEndian.PutUint64(b[atMaxTimestamp:], uint64(w.max))
	binary.BigEndian.PutUint64(b[atProducerID:], uint64(o.ProducerID))
	binary.BigEndian.PutUint16(b[atProducerEpoch:], uint16(o.ProducerEpoch))
	binary.BigEndian.PutUint32(b[atBaseSequence:], uint32(o.BaseSequence))
	binary.BigEndian.PutUint32(b[atCount:], uint32(w.count))
	w.inherit(b)
	b.seal()
}

func (o BuilderOptions) attributes() int16 {
	var a int16
	if o.TimestampType == LogAppendTime {
		a |= timestampTypeBit
	}
	if o.Transactional {
		a |= transactionalBit
	}
	if o.Control {
		a |= controlBit
	}
	if o.horizon {
		a |= horizonBit
	}
	return a
}
