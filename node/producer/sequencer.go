package producer

import (
	"slices"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// sequencer numbers the batches of one partition: Kafka's TxnPartitionEntry. A
// batch gets its numbers when it is sent first and keeps them over retries, by
// which the leader knows it again.
//
//	acked │ in flight: on the wire, or queued for another attempt │ next
type sequencer struct {
	as       identity       // whose sequences these are; may lag behind the producer's
	next     kafka.Sequence // of the next record
	acked    kafka.Sequence // largest acknowledged one, NoSequence for none
	inFlight []*batch       // with numbers and without an end, in order

	// unresolved: a batch expired after a retry, so it may be written or not.
	// expected is then the sequence after it.
	unresolved bool
	expected   kafka.Sequence

	restartDue bool // at the next epoch
}

func newSequencer() sequencer { return sequencer{as: noIdentity, acked: record.NoSequence} }

// restart begins with sequence 0 under another identity. Batches in flight are
// numbered anew; what the answer to an attempt under the old numbers says is
// judged with care from then on.
func (s *sequencer) restart(as identity) {
	s.as, s.next, s.acked = as, 0, record.NoSequence
	s.unresolved, s.restartDue = false, false
	for _, b := range s.inFlight {
		b.as, b.base, b.renumbered = as, s.next, true
		s.next = s.next.Add(b.count())
	}
}

// holds tells that b, the first of its queue, must wait. A batch that was sent
// before goes alone and in order: it must be the oldest in flight. A new one
// waits while those in flight have another identity, and while it is not known
// which sequence the leader expects.
func (s *sequencer) holds(b *batch, as identity) bool {
	if b.numbered() {
		return s.inFlight[0] != b
	}
	return s.unresolved || len(s.inFlight) > 0 && s.as != as
}

// number gives b its identity and its sequences, if it has none yet. A partition
// that had nothing in flight when the epoch rose takes it over here
// (KAFKA-12152).
func (s *sequencer) number(b *batch, as identity) {
	if b.numbered() {
		return
	}
	if s.as != as {
		s.restart(as)
	}
	b.as, b.base = as, s.next
	s.next = s.next.Add(b.count())
	s.inFlight = append(s.inFlight, b)
}

// acknowledge notes that the leader has b, perhaps after b expired. Kafka notes
// it under whatever identity; a sequence of another one says nothing here.
func (s *sequencer) acknowledge(b *batch) {
	if last := b.base.Add(b.count() - 1); b.numbered() && b.as == s.as && last.After(s.acked) {
		s.acked = last
	}
	s.remove(b)
}

// remove takes b off the batches in flight: it has its end.
func (s *sequencer) remove(b *batch) {
	s.inFlight = slices.DeleteFunc(s.inFlight, func(o *batch) bool { return o == b })
}

// expire notes that b ended without an answer.
func (s *sequencer) expire(b *batch) {
	s.remove(b)
	if !b.numbered() || b.attempts == 0 || b.as != s.as {
		return
	}
	if next := b.base.Add(b.count()); !s.unresolved || next.After(s.expected) {
		s.unresolved, s.expected = true, next
	}
}

// divide puts the parts of b in its place, with its sequences.
func (s *sequencer) divide(b *batch, parts []*batch) {
	i := slices.Index(s.inFlight, b)
	if i < 0 {
		return // not numbered
	}
	next := b.base
	for _, part := range parts {
		part.as, part.base = b.as, next
		next = next.Add(part.count())
	}
	s.inFlight = slices.Replace(s.inFlight, i, i+1, parts...)
}

// before tells whether a comes before b in the order of sequences. Batches
// without one come last.
func (s *sequencer) before(a, b *batch) bool {
	return a.numbered() && slices.Index(s.inFlight, a) < slices.Index(s.inFlight, b)
}
