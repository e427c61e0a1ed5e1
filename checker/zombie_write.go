package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// zombieWrite: once a transactional id has a new owner, no partition takes a
// record of the old one. The coordinator fences the old producer; a partition
// that never heard of the new epoch learns of it only by asking the coordinator
// (KIP-890). Without that a zombie's record is a known hole, unless somebody who
// reads committed is given it.
type zombieWrite struct{ tally }

func (*zombieWrite) name() string { return "zombie-write" }

func (w *zombieWrite) finish(f *facts, r *Report) {
	f.txns.closure(f)
	for _, id := range f.txns.byID {
		if !id.owned() {
			continue
		}
		for _, x := range id.txns {
			w.first(f, id, x, r)
		}
	}
}

// first judges the first record of a transaction that was written though it was
// sent after its producer was fenced.
func (w *zombieWrite) first(f *facts, id *transactionalID, x *txn, r *Report) {
	for _, s := range x.sends {
		if s.session == nil || s.outcome == event.SendFail {
			continue
		}
		w.checks++
		op := id.fencer(&f.clocks, producerOf(s.session))
		if op == nil || op.done.seq > s.invoked {
			continue
		}
		proof, at, ok := landed(x, s)
		if !ok || r.full(w.name(), s.tp) {
			continue
		}
		r.settleTxn(f, Finding{Rule: w.name(), Verdict: Violation, Seq: proof.seq, At: proof.at, TP: s.tp, Offset: at, Last: at, Count: 1,
			Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: s.client, Attempt: s.attempt, Witness: witnesses(op.done.seq, s.invoked, proof.seq),
			Text: fmt.Sprintf("%s: %s took over %s as %s (event %d), and %s, sent after that by %s (event %d), was written at offset %d (event %d)",
				s.tp, op.client, id.id, op.producer, op.done.seq, s.what(), producerOf(s.session), s.invoked, at, proof.seq)},
			circumstances{readCommitted: x.seen != nil}, [2]stamp{op.done, {s.invoked, s.at}})
		return
	}
}

// landed is the proof that a send was written: its acknowledgement, or a read.
func landed(x *txn, s *send) (stamp, kafka.Offset, bool) {
	if s.outcome == event.SendOK && s.offset != kafka.NoOffset {
		return stamp{s.done, s.doneAt}, s.offset, true
	}
	for _, g := range x.sightings {
		if g.send == s {
			return stamp{g.poll.seq, g.poll.at}, g.rec.Offset, true
		}
	}
	return stamp{}, 0, false
}
