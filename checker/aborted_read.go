package checker

import (
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// abortedRead: a read_committed consumer is given nothing of a transaction that
// was aborted, or that nobody ever asked to commit (Adya's G1a).
type abortedRead struct{ tally }

func (*abortedRead) name() string { return "aborted-read" }

func (w *abortedRead) finish(f *facts, r *Report) {
	f.txns.closure(f)
	for _, x := range f.txns.order {
		w.checks += len(x.sightings)
		s := x.seenByOthers()
		if x.outcome == txnCommitted || s == nil || r.full(w.name(), s.rd.tp) {
			continue
		}
		why := x.proof.String()
		if x.outcome == txnOpen {
			why = "nobody asked to commit it"
		}
		finding := s.finding(w.name(), fmt.Sprintf("%s is %s: %s", x.what(), x.outcome, why), x.decided.seq)
		finding.Count = x.recordsSeen()
		r.settleTxn(f, finding, circumstances{readCommitted: true})
	}
}

// seenByOthers is the first committed read of the transaction that it did not
// make itself, nil for none.
func (x *txn) seenByOthers() *sighting {
	var first *sighting
	for i := range x.sightings {
		if s := &x.sightings[i]; (first == nil || s.poll.seq < first.poll.seq) && !s.own() {
			first = s
		}
	}
	return first
}

// recordsSeen is how many of its records were read.
func (x *txn) recordsSeen() int {
	seen := map[uint64]bool{}
	for i := range x.sightings {
		seen[x.sightings[i].rec.Attempt] = true
	}
	return len(seen)
}

// own reports whether the transaction itself made the read.
func (s *sighting) own() bool {
	if s.poll.session != nil && s.poll.session.Txn != 0 {
		return s.poll.session.Txn == s.txn.id
	}
	return s.poll.client == s.txn.client && slices.ContainsFunc(s.txn.reads, func(r readRef) bool { return r.rd == s.rd && r.rd.polls.at(r.poll) == s.poll })
}

// finding is a broken promise about one committed read, witnessed by more events than the
// send and the poll may be given.
func (s *sighting) finding(rule, why string, more ...uint64) Finding {
	return Finding{Rule: rule, Verdict: Violation, Seq: s.poll.seq, At: s.poll.at, TP: s.rd.tp, Offset: s.rec.Offset, Last: s.rec.Offset, Count: 1,
		Node: kafka.NoBroker, Epoch: s.rec.Epoch, Client: s.poll.client, Attempt: s.rec.Attempt,
		Witness: witnesses(append(more, s.send.invoked, s.poll.seq)...),
		Text: fmt.Sprintf("%s: %s read %s at offset %d as committed (event %d): %s",
			s.rd.tp, s.poll.client, s.send.what(), s.rec.Offset, s.poll.seq, why)}
}

// what names a transaction in a sentence.
func (x *txn) what() string { return fmt.Sprintf("transaction %d of %s", x.id, x.client) }

// committedRead reports whether a poll asked for committed records only.
func (p *poll) committedRead() bool { return p.isolation == event.ReadCommitted }
