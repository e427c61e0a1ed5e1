package storage

import (
	"slices"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// transaction is one producer's transaction in a log.
type transaction struct {
	id    kafka.ProducerID
	first kafka.Offset // of its first record
	last  kafka.Offset // of its marker; NoOffset while it is open
}

// transactions are those that a reader of committed records must not pass, both
// by first offset. They are in memory alone: what is open comes back from
// snapshots and batches, what is decided is above the high watermark.
//
//	           open[0]      open[1]          decided[0] … its marker
//	──────────────┴────────────┴──────────────────┴─────┬─────┴──── log end
//	              ▲ first unstable offset        high watermark
type transactions struct {
	open    []transaction // without a marker yet
	decided []transaction // with one that is not replicated yet: at the high watermark or above
}

// begin notes that producer id's transaction begins at first.
func (t *transactions) begin(id kafka.ProducerID, first kafka.Offset) {
	t.open = insertTransaction(t.open, transaction{id, first, kafka.NoOffset})
}

// end notes that a transaction has its marker.
func (t *transactions) end(x transaction) {
	t.open = slices.DeleteFunc(t.open, func(o transaction) bool { return o.id == x.id })
	t.decided = insertTransaction(t.decided, x)
}

func insertTransaction(list []transaction, x transaction) []transaction {
	i := len(list)
	for i > 0 && list[i-1].first > x.first {
		i--
	}
	return slices.Insert(list, i, x)
}

// replicated forgets the decided transactions whose marker lies below o.
func (t *transactions) replicated(o kafka.Offset) {
	t.decided = slices.DeleteFunc(t.decided, func(x transaction) bool { return x.last < o })
}

// firstUnstable is the first offset of the oldest transaction that is open or
// whose marker is not replicated.
func (t *transactions) firstUnstable() (first kafka.Offset, ok bool) {
	for _, list := range [...][]transaction{t.open, t.decided} {
		if len(list) > 0 && (!ok || list[0].first < first) {
			first, ok = list[0].first, true
		}
	}
	return first, ok
}

// stableAfter is the last stable offset once x is decided, if all were
// replicated: where the oldest transaction of another producer begins, else
// behind the marker.
func (t *transactions) stableAfter(x transaction) kafka.Offset {
	for _, o := range t.open {
		if o.id != x.id {
			return o.first
		}
	}
	return x.last + 1
}

func (t *transactions) clear() { t.open, t.decided = t.open[:0], t.decided[:0] }

// SetHighWatermark tells the log how far it is committed: the high watermark of
// its replica, which the log keeps within itself. It bounds what a reader of
// committed transactions sees, and what retention and compaction may take. Nobody
// tells the metadata log's: nothing of it is deleted or compacted here.
func (l *Log) SetHighWatermark(o kafka.Offset) {
	l.highWatermark = min(max(o, l.start), l.end)
	l.producers.txns.replicated(l.highWatermark)
}

// HighWatermark is what SetHighWatermark told, within [LogStart, LogEnd].
func (l *Log) HighWatermark() kafka.Offset { return l.highWatermark }

// FirstUnstable is the first offset of the oldest transaction that has no marker
// below the high watermark, not below the log start; false if there is none.
func (l *Log) FirstUnstable() (kafka.Offset, bool) {
	o, ok := l.producers.txns.firstUnstable()
	return max(o, l.start), ok
}

// LastStable is the last stable offset (LSO): every transaction with records
// below it is decided, and all below it is committed. It bounds what a reader
// with isolation.level=read_committed sees (KIP-98).
func (l *Log) LastStable() kafka.Offset {
	if o, ok := l.FirstUnstable(); ok && o < l.highWatermark {
		return o
	}
	return l.highWatermark
}

// Marker tells how a producer's transaction ends.
type Marker struct {
	ProducerID    kafka.ProducerID
	ProducerEpoch kafka.ProducerEpoch
	// CoordinatorEpoch is the leader epoch of the transaction coordinator's
	// partition; an older one than the log has seen is fenced.
	CoordinatorEpoch int32
	Type             record.ControlType // Commit or Abort
	// TransactionVersion is the transaction.version of the transaction: from 2 on
	// its markers carry a higher epoch than its data (KIP-890).
	TransactionVersion int16
}

// AppendMarker appends the marker of a transaction, on behalf of its coordinator.
// It needs no open transaction: one that is repeated, or comes where the producer
// wrote nothing, ends none. INVALID_PRODUCER_EPOCH: of an older producer epoch;
// TRANSACTION_COORDINATOR_FENCED: of an older coordinator; nothing is appended
// then. The rest is as for AppendAsLeader.
func (l *Log) AppendMarker(m Marker, epoch kafka.LeaderEpoch, now kafka.Timestamp) (Appended, kafka.ErrorCode, error) {
	if l.failed != nil {
		return nothing, kafka.KafkaStorageError, l.offline()
	}
	b := record.EndTransaction{Type: m.Type, CoordinatorEpoch: m.CoordinatorEpoch}.Batch(m.ProducerID, m.ProducerEpoch, now)
	if len(b) > int(l.cfg.MaxMessageBytes) {
		return nothing, kafka.MessageTooLarge, nil
	}
	if code, err := l.stamp(b, now, epoch, now); code != kafka.None {
		return nothing, code, err
	}
	if s := l.producers.states[m.ProducerID]; s != nil {
		if code := s.checkMarker(m); code != kafka.None {
			return nothing, code, nil
		}
	}
	done, err := l.add(b, b)
	if err != nil {
		return nothing, kafka.KafkaStorageError, err
	}
	return done, kafka.None, nil
}

// checkMarker tells whether a marker may end what the producer did here. Under
// transaction.version 2 one with the epoch of the data is that of the transaction
// before, come late; only with nothing open it is the retry of one that is here
// (KIP-890).
func (s *producerState) checkMarker(m Marker) kafka.ErrorCode {
	late := m.TransactionVersion >= 2 && m.ProducerEpoch == s.epoch && s.openTransaction != kafka.NoOffset
	switch {
	case m.ProducerEpoch < s.epoch || late:
		return kafka.InvalidProducerEpoch
	case m.CoordinatorEpoch < s.coordinatorEpoch:
		return kafka.TransactionCoordinatorFenced
	}
	return kafka.None
}
