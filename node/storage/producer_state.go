package storage

import (
	"slices"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// rememberedBatches is how many batches a log remembers of each producer: as
// many as a producer with idempotence may have in flight, so that the retry of
// any of them is known again (KAFKA-5494).
const rememberedBatches = 5

// noProducerEpoch stands for a producer that the log has no data of.
const noProducerEpoch kafka.ProducerEpoch = -1

// noCoordinator is the coordinator epoch of a producer without a transaction
// marker.
const noCoordinator int32 = -1

// producerBatch is what is remembered of one batch. Its first sequence and
// first offset lie delta before the last ones.
type producerBatch struct {
	lastSequence kafka.Sequence
	lastOffset   kafka.Offset
	delta        int32
	timestamp    kafka.Timestamp // largest of its records, ms
}

func (b producerBatch) firstSequence() kafka.Sequence { return b.lastSequence.Add(-b.delta) }

func (b producerBatch) firstOffset() kafka.Offset { return b.lastOffset - kafka.Offset(b.delta) }

// producerState is what a log knows of one producer: Kafka's
// ProducerStateEntry.
type producerState struct {
	id      kafka.ProducerID
	epoch   kafka.ProducerEpoch
	batches [rememberedBatches]producerBatch // the first n of them, oldest first; all of epoch
	n       int
	// timestamp is that of the last batch or transaction marker, ms.
	timestamp kafka.Timestamp
	// coordinatorEpoch is the one in the last marker, openTransaction the first
	// offset of a transaction without one, NoOffset for none.
	coordinatorEpoch int32
	openTransaction  kafka.Offset
}

func newProducerState(id kafka.ProducerID) *producerState {
	return &producerState{id: id, epoch: noProducerEpoch, timestamp: record.NoTimestamp,
		coordinatorEpoch: noCoordinator, openTransaction: kafka.NoOffset}
}

// lastSequence is that of the last batch, or none.
func (s *producerState) lastSequence() kafka.Sequence {
	if s.n == 0 {
		return record.NoSequence
	}
	return s.batches[s.n-1].lastSequence
}

// find looks for a remembered batch that b is again: same epoch, exactly the
// same sequences.
func (s *producerState) find(b record.Batch) (producerBatch, bool) {
	if b.ProducerEpoch() != s.epoch {
		return producerBatch{}, false
	}
	for _, old := range s.batches[:s.n] {
		if old.firstSequence() == b.BaseSequence() && old.lastSequence == b.LastSequence() {
			return old, true
		}
	}
	return producerBatch{}, false
}

// check tells whether b, of a client and no duplicate, comes next. A newer
// epoch begins at sequence 0. A log that knows nothing of the producer takes
// any sequence: what it knew may be gone by retention or expiry.
func (s *producerState) check(b record.Batch) kafka.ErrorCode {
	next := kafka.Sequence(0)
	if b.ProducerEpoch() == s.epoch {
		next = s.lastSequence().Add(1)
	}
	switch {
	case b.ProducerEpoch() < s.epoch:
		return kafka.InvalidProducerEpoch
	case s.epoch != noProducerEpoch && b.BaseSequence() != next:
		return kafka.OutOfOrderSequenceNumber
	case s.openTransaction != kafka.NoOffset && !b.IsTransactional():
		return kafka.InvalidTxnState
	}
	return kafka.None
}

// setEpoch notes the epoch of a batch or marker; another one than before makes
// the log forget the batches of that one, also where replication brings a lower
// one.
func (s *producerState) setEpoch(e kafka.ProducerEpoch) {
	if e != s.epoch {
		s.epoch, s.n = e, 0
	}
}

// add remembers an appended batch, of which the header is enough.
func (s *producerState) add(b record.Batch) {
	s.setEpoch(b.ProducerEpoch())
	if s.n == rememberedBatches {
		copy(s.batches[:], s.batches[1:])
		s.n--
	}
	s.batches[s.n] = producerBatch{b.LastSequence(), b.LastOffset(), b.LastOffsetDelta(), b.MaxTimestamp()}
	s.n++
	s.timestamp = b.MaxTimestamp()
}

// producers is a log's memory of its producers, which makes retries idempotent
// (KIP-98): Kafka's ProducerStateManager.
//
//	snapshots   saved                    end = log end
//	    │         │                          │
//	────┴─────────┴── batches since then ────┴
//
// Leaders check by it what clients send; followers and recovery only keep it up
// to date, so that each replica could lead.
type producers struct {
	states map[kafka.ProducerID]*producerState // never of NoProducerID
	end    kafka.Offset                        // every batch below is taken into account (Kafka's map end offset)
	saved  kafka.Offset                        // where the last snapshot was taken, or what came in place of one
	// snapshots are the files in the directory, by offset.
	snapshots []*snapshotFile
	// expiration is producer.id.expiration.ms; 0 is never.
	expiration int64
	txns       transactions
}

// known is what the log knows of the producer of b, nil for nothing.
func (p *producers) known(b record.Batch) *producerState {
	id := b.ProducerID()
	if id == kafka.NoProducerID {
		return nil
	}
	return p.states[id]
}

// note takes an appended batch into account, of which the header is enough unless
// it is a control batch. A marker may decide a transaction: the caller brings it
// into the index, if it is aborted, and then into txns.
func (p *producers) note(b record.Batch) (decided transaction, aborted, ok bool) {
	p.end = b.NextOffset()
	id := b.ProducerID()
	switch {
	case id == kafka.NoProducerID:
		return transaction{}, false, false
	case b.IsControl():
		return p.noteMarker(b)
	}
	s := p.state(id)
	s.add(b)
	if b.IsTransactional() && s.openTransaction == kafka.NoOffset {
		s.openTransaction = b.BaseOffset()
		p.txns.begin(id, s.openTransaction)
	}
	return transaction{}, false, false
}

// noteMarker takes a transaction marker into account; a control batch that is
// none changes nothing. One without an open transaction decides none.
func (p *producers) noteMarker(b record.Batch) (decided transaction, aborted, ok bool) {
	m, found, err := record.ParseEndTransaction(b)
	if err != nil || !found {
		return transaction{}, false, false
	}
	s := p.state(b.ProducerID())
	decided = transaction{s.id, s.openTransaction, b.BaseOffset()}
	s.setEpoch(b.ProducerEpoch())
	s.coordinatorEpoch, s.timestamp, s.openTransaction = m.CoordinatorEpoch, b.MaxTimestamp(), kafka.NoOffset
	return decided, m.Type == record.Abort, decided.first != kafka.NoOffset
}

// state is what is known of a producer, who from now on is known.
func (p *producers) state(id kafka.ProducerID) *producerState {
	s := p.states[id]
	if s == nil {
		s = newProducerState(id)
		p.states[id] = s
	}
	return s
}

// replay is note for a batch that its segment's index tells of already.
func (p *producers) replay(b record.Batch) {
	if t, _, ok := p.note(b); ok {
		p.txns.end(t)
	}
}

// load makes a state that a snapshot holds part of what is known.
func (p *producers) load(s *producerState) {
	p.states[s.id] = s
	if s.openTransaction != kafka.NoOffset {
		p.txns.begin(s.id, s.openTransaction)
	}
}

// forget drops all that is known.
func (p *producers) forget() {
	clear(p.states)
	p.txns.clear()
}

// expired tells whether a producer was silent for so long that it is forgotten.
// One with an open transaction never is.
func (p *producers) expired(s *producerState, now kafka.Timestamp) bool {
	return p.expiration > 0 && s.openTransaction == kafka.NoOffset && int64(now-s.timestamp) >= p.expiration
}

// sorted returns the states by producer id.
func (p *producers) sorted() []*producerState {
	all := make([]*producerState, 0, len(p.states))
	for _, s := range p.states { // unordered: sorted below
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b *producerState) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return all
}

// noteBatch takes a batch that was appended to segment s, or found there by
// recovery, into account: its producer, its transaction and, at an abort, the
// index of aborted transactions, which comes before the transaction counts as
// decided.
func (l *Log) noteBatch(s *segment, b record.Batch) error {
	t, aborted, ok := l.producers.note(b)
	if !ok {
		return nil
	}
	if aborted {
		if err := l.indexAborted(s, t); err != nil {
			return err
		}
	}
	l.producers.txns.end(t)
	return nil
}

// ExpireProducers forgets the producers whose last batch is older than
// producer.id.expiration.ms at wall time now, ms. Kafka looks every 10 minutes;
// until then, and from then on, a producer that is back is judged by what is
// known of it: its next batch is taken whatever its sequence, once it was
// forgotten.
func (l *Log) ExpireProducers(now kafka.Timestamp) {
	for id, s := range l.producers.states { // unordered: each is judged alone
		if l.producers.expired(s, now) {
			delete(l.producers.states, id)
		}
	}
}
