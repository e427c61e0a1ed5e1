package record

import (
	"encoding/binary"

	"tidemark/model/kafka"
)

// What compaction leaves of a batch is a batch again, which keeps all that
// others know it by: base offset, last offset and last sequence, so that offsets
// stay and a producer's next batch is in order, though records in between are
// gone.
//
//	before   base 100, last delta 4   │ 100 │ 101 │ 102 │ 103 │ 104 │
//	after    base 100, last delta 4         │ 101 │     │ 103 │
//	empty    base 100, last delta 4   count 0, codec none, no base timestamp

// DeleteHorizon is the time, ms, at and after which compaction may drop the
// batch's tombstones, or the marker that it holds (KIP-534); not ok if the batch
// was not stamped yet. The horizon lies in the base timestamp's field, from
// which the records' timestamps count all the same.
func (b Batch) DeleteHorizon() (t kafka.Timestamp, ok bool) {
	if b.Attributes()&horizonBit == 0 {
		return NoTimestamp, false
	}
	return b.BaseTimestamp(), true
}

// ResetTo starts a batch of records that are kept of b, with the given delete
// horizon in ms, NoTimestamp for none. b must stay as it is until Build.
func (w *Builder) ResetTo(b Batch, horizon kafka.Timestamp) {
	w.Reset(BuilderOptions{BaseOffset: b.BaseOffset(), LeaderEpoch: b.LeaderEpoch(), TimestampType: b.TimestampType(),
		ProducerID: b.ProducerID(), ProducerEpoch: b.ProducerEpoch(), BaseSequence: b.BaseSequence(),
		Transactional: b.IsTransactional(), Control: b.IsControl(), horizon: horizon != NoTimestamp})
	w.of, w.base = b, horizon
}

// Retain keeps a record of the batch that ResetTo was given, at its offset.
func (w *Builder) Retain(r Record) {
	if w.count == 0 && !w.options.horizon {
		w.base = r.Timestamp
	}
	w.add(int32(r.Offset-w.of.BaseOffset()), r.Timestamp, r.Key, r.Value, r.Headers)
}

// inherit gives b what the batch that its records are kept of knew besides
// them: its end, and the time at which a leader stamped it. A CreateTime batch
// carries the largest timestamp of what is left.
func (w *Builder) inherit(b Batch) {
	if w.of == nil {
		return
	}
	copy(b[atLastDelta:atBaseTimestamp], w.of[atLastDelta:])
	if w.of.TimestampType() == LogAppendTime {
		copy(b[atMaxTimestamp:atProducerID], w.of[atMaxTimestamp:])
	}
}

// Emptied is b without its records: what compaction keeps where the batch's
// place alone counts (KAFKA-5490). It has memory of its own.
func (b Batch) Emptied() Batch {
	e := append(make(Batch, 0, Overhead), b[:Overhead]...)
	binary.BigEndian.PutUint32(e[atLength:], Overhead-LogOverhead)
	binary.BigEndian.PutUint16(e[atAttributes:], uint16(b.Attributes()&^(codecMask|horizonBit)))
	noTime := NoTimestamp
	binary.BigEndian.PutUint64(e[atBaseTimestamp:], uint64(noTime))
	binary.BigEndian.PutUint32(e[atCount:], 0)
	e.seal()
	return e
}
