package checker

import (
	"cmp"
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// tornTransaction: of a committed transaction everything is there. Each record
// of it that was acknowledged is found by whoever reads past its offset; one
// that was never acknowledged lies below everything that its partition took
// after the commit, and is missing once all of that was read.
//
// A transaction of which nobody saw anything is no torn one: what is missing
// there is a lost-write. One that only its offsets prove is an offset-tear.
type tornTransaction struct{ tally }

func (*tornTransaction) name() string { return "torn-transaction" }

func (w *tornTransaction) finish(f *facts, r *Report) {
	f.txns.closure(f)
	missing, checks := f.missingSends()
	w.checks += checks
	for i := range missing {
		if m := &missing[i]; m.send.txn.seen != nil && !r.full(w.name(), m.send.tp) {
			r.settleTxn(f, w.torn(m), circumstances{readCommitted: true}, m.order()...)
		}
	}
}

// missingSend is a record of a committed transaction that a poll should have
// shown.
type missingSend struct {
	send  txnSend
	poll  *poll
	bound *txnSend // sent after the commit and read above: where the send's offset is not known
}

// order is the pairs of events whose order tells that it is missing: the poll that
// passed over it came after its commit was asked for, and what bounds it was sent after
// the commit.
func (m *missingSend) order() [][2]stamp {
	if m.bound != nil {
		return [][2]stamp{{m.send.txn.decided, m.bound.called()}}
	}
	asked, _ := m.send.txn.commitAsked()
	return [][2]stamp{{asked, m.poll.stamp()}}
}

// missingSends finds the records of committed transactions that are missing, by
// partition, each once, and how many were looked at. Where the cleaner works
// nothing can be said.
func (f *facts) missingSends() ([]missingSend, int) {
	t := f.txns
	if t.missing == nil && len(t.order) > 0 {
		t.missing = []missingSend{}
		for _, rd := range f.history.sorted() {
			if len(t.sends[rd.tp]) > 0 && !f.profile.compacted(rd.tp.Topic) {
				rd.index(&f.history) // which tells what was seen
				found, n := rd.missing(t.sends[rd.tp])
				t.missing, t.lookedAt = append(t.missing, found...), t.lookedAt+n
			}
		}
	}
	return t.missing, t.lookedAt
}

func (rd *reading) missing(sends []txnSend) ([]missingSend, int) {
	placed := make([]txnSend, 0, len(sends))
	var unplaced []txnSend
	for _, s := range sends {
		switch {
		case s.txn.outcome != txnCommitted:
		case s.promised():
			placed = append(placed, s)
		case s.outcome != event.SendOK:
			unplaced = append(unplaced, s)
		}
	}
	slices.SortStableFunc(placed, func(a, b txnSend) int { return cmp.Compare(a.offset, b.offset) })
	return append(rd.passedOver(placed), rd.neverSeen(placed, unplaced)...), len(placed) + len(unplaced)
}

// passedOver finds the sends that a poll covered and did not show, the first
// poll of each.
func (rd *reading) passedOver(sends []txnSend) []missingSend {
	var found []missingSend
	told := map[uint64]bool{}
	for i := range rd.polls.len() {
		p := rd.polls.at(i)
		next := p.lo
		first, _ := slices.BinarySearchFunc(sends, p.from, func(s txnSend, o kafka.Offset) int { return cmp.Compare(s.offset, o) })
		for _, s := range sends[first:] {
			if s.offset >= p.end {
				break
			}
			for next < p.hi && rd.records.at(int(next)).offset < s.offset {
				next++
			}
			asked, _ := s.txn.commitAsked()
			there := next < p.hi && rd.records.at(int(next)).offset == s.offset && s.holds(rd.record(next))
			if there || told[s.attempt] || p.seq < asked.seq {
				continue
			}
			told[s.attempt] = true
			found = append(found, missingSend{send: s, poll: p})
		}
	}
	return found
}

// neverSeen finds the sends of unknown offset that nobody read, though somebody
// read everything up to a record that was sent after their commit.
func (rd *reading) neverSeen(placed, unplaced []txnSend) []missingSend {
	if len(unplaced) == 0 {
		return nil
	}
	end, last := rd.covered()
	var found []missingSend
	for _, s := range unplaced {
		if s.seen != kafka.NoOffset {
			continue
		}
		for i := range placed {
			if b := &placed[i]; b.offset < end && b.invoked > s.txn.decided.seq {
				found = append(found, missingSend{s, last, b})
				break
			}
		}
	}
	return found
}

// covered is the end of what polls cover without a hole from offset 0 on, and
// the last poll of them.
func (rd *reading) covered() (kafka.Offset, *poll) {
	polls := slices.Collect(rd.polls.each())
	slices.SortStableFunc(polls, func(a, b *poll) int { return cmp.Compare(a.from, b.from) })
	var end kafka.Offset
	var last *poll
	for _, p := range polls {
		if p.from > end {
			break
		}
		if end = max(end, p.end); last == nil || p.seq > last.seq {
			last = p
		}
	}
	return end, last
}

func (w *tornTransaction) torn(m *missingSend) Finding {
	x, g := m.send.txn, m.send.txn.seen
	where, witness := m.story()
	return Finding{Rule: w.name(), Verdict: Violation, Seq: max(m.poll.seq, g.poll.seq), At: max(m.poll.at, g.poll.at), TP: m.send.tp,
		Offset: m.send.offset, Last: m.send.offset, Count: 1, Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: m.send.client, Attempt: m.send.attempt,
		Witness: witnesses(append(witness, g.send.invoked, g.poll.seq)...),
		Text: fmt.Sprintf("%s is torn: %s read %s of it at offset %d of %s (event %d), and %s",
			x.what(), g.poll.client, g.send.what(), g.rec.Offset, g.rd.tp, g.poll.seq, where)}
}

// story says what is missing, and the events that show it.
func (m *missingSend) story() (string, []uint64) {
	if m.bound != nil {
		return fmt.Sprintf("%s, sent to %s (event %d), is nowhere below offset %d, which %s took after the commit",
				m.send.what(), m.send.tp, m.send.invoked, m.bound.offset, m.bound.what()),
			[]uint64{m.send.invoked, m.poll.seq, m.bound.invoked, m.bound.done}
	}
	return fmt.Sprintf("%s, acknowledged at offset %d of %s (event %d), was not there when %s read past it (event %d)",
		m.send.what(), m.send.offset, m.send.tp, m.send.done, m.poll.client, m.poll.seq), []uint64{m.send.invoked, m.send.done, m.poll.seq}
}
