package storage

import (
	"math"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// Appended tells what an append added to the log.
type Appended struct {
	First, Last kafka.Offset // of the records; NoOffset if nothing was appended
	// Batches are the batches in order; the slice is reused by the next append.
	Batches []BatchInfo
	// FlushDue tells that flush.messages is reached, or that many rolled segments wait
	// for their fsync. With flush.messages Kafka syncs inside the append; the caller
	// does the same by a Flush, whose completion it awaits before it answers or fetches
	// on.
	FlushDue bool
	// Duplicate tells that a producer with idempotence sent a batch again: First
	// and Last are where it lies, nothing was appended. Timestamp is then its
	// largest, ms, which Kafka answers in place of the append time.
	Duplicate bool
	Timestamp kafka.Timestamp
	// Invalid says why records were refused, with INVALID_RECORD and
	// INVALID_TIMESTAMP; nil if the batch as a whole is at fault.
	Invalid []RecordError
}

// BatchInfo describes one appended batch.
type BatchInfo struct {
	Base, Next kafka.Offset // first offset, first offset after
	Epoch      kafka.LeaderEpoch
	CRC        uint32
	Bytes      int
}

var nothing = Appended{First: kafka.NoOffset, Last: kafka.NoOffset}

// AppendAsLeader appends one batch of a client: it checks it, gives it the next
// offsets, the leader epoch and its final timestamps, in place, and notes the
// epoch. A batch that cannot be stored as it was sent (its codec is not the
// topic's, or compressed records have odd offsets) is left and a rebuilt one is
// appended. The retry of a batch that is in the log already is told from a new
// one by its producer's sequences (KIP-98). A code other than None means that nothing was appended (though the
// epoch may have been noted and a segment rolled, which is harmless). An error
// comes with KAFKA_STORAGE_ERROR alone. now is the leader's clock.
func (l *Log) AppendAsLeader(b record.Batch, epoch kafka.LeaderEpoch, now kafka.Timestamp) (Appended, kafka.ErrorCode, error) {
	if l.failed != nil {
		return nothing, kafka.KafkaStorageError, l.offline()
	}
	if code := l.admit(b); code != kafka.None {
		return nothing, code, nil
	}
	valid, code := l.validate(b, now)
	if code != kafka.None {
		refused := nothing
		refused.Invalid = valid.invalid
		return refused, code, nil
	}
	if valid.rebuild {
		if b = l.rebuilt(b); len(b) > int(l.cfg.MaxMessageBytes) {
			return nothing, kafka.MessageTooLarge, nil
		}
	}
	if code, err := l.stamp(b, valid.largest, epoch, now); code != kafka.None {
		return nothing, code, err
	}
	if s := l.producers.known(b); s != nil {
		// The batch is in the log already, or has to come next.
		if old, ok := s.find(b); ok {
			return Appended{First: old.firstOffset(), Last: old.lastOffset, Duplicate: true, Timestamp: old.timestamp}, kafka.None, nil
		}
		if code := s.check(b); code != kafka.None {
			return nothing, code, nil
		}
	}
	l.batches = l.batches[:0]
	if err := l.write(b); err != nil {
		return nothing, kafka.KafkaStorageError, err
	}
	return l.appended(b.BaseOffset()), kafka.None, nil
}

// stamp makes b, whose largest timestamp is given, the batch that comes next in
// the log, and makes room for it there.
func (l *Log) stamp(b record.Batch, largest kafka.Timestamp, epoch kafka.LeaderEpoch, now kafka.Timestamp) (kafka.ErrorCode, error) {
	l.clock = now
	b.SetBaseOffset(l.end)
	b.SetLeaderEpoch(epoch)
	b.SetMaxTimestamp(largest, l.cfg.TimestampType)
	if l.epochs.assign(epoch, l.end) {
		l.saveEpochs()
	}
	if len(b) > int(l.cfg.SegmentBytes) {
		return kafka.RecordListTooLarge, nil
	}
	if l.mustRoll(b) {
		if err := l.rollFor(b); err != nil {
			return kafka.KafkaStorageError, err
		}
	}
	return kafka.None, nil
}

// AppendAsRaftLeader appends one batch of the metadata log's leader, which has
// chosen base offset (the log end) and leader epoch itself and may write control
// records. No limit of the configuration applies.
func (l *Log) AppendAsRaftLeader(b record.Batch, epoch kafka.LeaderEpoch) (Appended, error) {
	if l.failed != nil {
		return nothing, l.offline()
	}
	if err := b.Check(); err != nil || b.BaseOffset() != l.end || b.LeaderEpoch() != epoch {
		panic("storage: raft leader appends a batch that is not its own to " + l.dir + " at offset " + offsetText(l.end))
	}
	if l.epochs.assign(epoch, l.end) {
		l.saveEpochs()
	}
	return l.add(b, b)
}

// add appends back-to-back batches, whose headers are final, and reports them.
// Consecutive ones that go to one segment are written at once.
func (l *Log) add(batches []byte, next record.Batch) (Appended, error) {
	first := next.BaseOffset()
	l.batches = l.batches[:0]
	pending := 0 // bytes at the front of batches that are not written yet
	for pending < len(batches) {
		b, _ := nextOwn(batches[pending:])
		if pending > 0 && l.mayRoll(b, pending) {
			if err := l.write(batches[:pending]); err != nil {
				return l.appended(first), err
			}
			batches, pending = batches[pending:], 0
		}
		if pending == 0 && l.mustRoll(b) {
			if err := l.rollFor(b); err != nil {
				return l.appended(first), err
			}
		}
		pending += len(b)
	}
	err := l.write(batches)
	return l.appended(first), err
}

// mayRoll tells that the batches in front of b, of pending bytes, have to be
// written before it can be said whether b starts a new segment.
func (l *Log) mayRoll(b record.Batch, pending int) bool {
	s := l.active()
	entries := s.index.count() + 1 + pending/(int(l.cfg.IndexIntervalBytes)+1)
	return s.size == 0 || s.first < 0 || s.size+int64(pending) > int64(l.cfg.SegmentBytes)-int64(len(b)) ||
		int64(b.MaxTimestamp()-s.first) > l.cfg.maxSegmentMs()-s.jitter || int64(b.LastOffset()-s.base) > math.MaxInt32 ||
		entries >= l.cfg.maxOffsetEntries() || entries >= l.cfg.maxTimeEntries()
}

// mustRoll tells that b starts a new segment.
func (l *Log) mustRoll(b record.Batch) bool {
	s := l.active()
	if int64(b.LastOffset()-s.base) > math.MaxInt32 {
		return true // the indexes count in 32 bits
	}
	if s.size == 0 {
		return false
	}
	waited := l.clock - s.created
	if s.first >= 0 {
		waited = b.MaxTimestamp() - s.first
	}
	return s.size > int64(l.cfg.SegmentBytes)-int64(len(b)) || int64(waited) > l.cfg.maxSegmentMs()-s.jitter ||
		s.index.count() >= l.cfg.maxOffsetEntries() || s.times.count() >= l.cfg.maxTimeEntries()
}

// rollFor starts a new segment for b.
// Kafka names it by b's base offset; here by the log end, which is the same
// unless the leader's log has a gap there: so a start after a crash can tell a
// lost segment from a gap that compaction left. Where the gap is too large for that, it
// is larger than what can be lost in front of a segment.
func (l *Log) rollFor(b record.Batch) error {
	if int64(b.LastOffset()-l.end) > math.MaxInt32 {
		return l.roll(b.BaseOffset())
	}
	return l.roll(l.end)
}

// roll starts a new segment, takes a producer snapshot there, and syncs the old
// segment in the background.
func (l *Log) roll(base kafka.Offset) error {
	if err := l.active().seal(); err != nil {
		return l.failing("roll", err)
	}
	if err := l.startSegment(base); err != nil {
		return l.failing("roll", err)
	}
	l.producers.end = base
	if err := l.takeSnapshot(); err != nil {
		return l.failing("roll", err)
	}
	l.rolls++
	l.begin(&flushOp{upTo: l.end, rolled: true})
	return nil
}

// startSegment makes a new, empty, active segment.
func (l *Log) startSegment(base kafka.Offset) error {
	l.dirDirty = true
	if err := l.freeNames(base); err != nil {
		return err
	}
	s, err := createSegment(l.fs, l.dir, base, l.clock)
	if err != nil {
		return err
	}
	s.jitter = l.drawJitter()
	l.segments = append(l.segments, s)
	return nil
}

// drawJitter is how much earlier a segment is to be rolled, ms: so the logs of a
// broker, which were made at once, are not all rolled at once.
func (l *Log) drawJitter() int64 {
	most := min(l.cfg.SegmentJitterMs, l.cfg.SegmentMs)
	if most == 0 || l.random == nil {
		return 0
	}
	return int64(l.random() % uint64(most))
}

// write appends batches to the active segment, moves the log end and brings
// the producers there: after the append, as a failed one must not be remembered
// (KAFKA-6683).
func (l *Log) write(batches []byte) error {
	s := l.active()
	if err := s.write(batches); err != nil {
		return l.failing("append to", err)
	}
	for len(batches) > 0 {
		b, rest := nextOwn(batches)
		base, size := b.BaseOffset(), len(b)
		l.recent.add(l.end, s, place{s.size, size, base})
		s.note(b, size, l.cfg.IndexIntervalBytes)
		l.end = b.NextOffset()
		if err := l.noteBatch(s, b); err != nil {
			return l.failing("append to", err)
		}
		l.batches = append(l.batches, BatchInfo{base, l.end, b.LeaderEpoch(), b.CRC(), size})
		batches = rest
	}
	if err := s.saveHeld(); err != nil {
		return l.failing("append to", err)
	}
	return nil
}

// appended reports what write added since l.batches was emptied.
func (l *Log) appended(first kafka.Offset) Appended {
	if len(l.batches) == 0 {
		return nothing
	}
	return Appended{First: first, Last: l.end - 1, Batches: l.batches, FlushDue: l.flushDue()}
}
