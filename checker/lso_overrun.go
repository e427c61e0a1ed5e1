package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// lsoOverrun: who reads committed does not pass the first record of a
// transaction that is open. The last stable offset stops there, and a fetch that
// returned something above it must have been answered after the record was
// written and before the transaction ended:
//
//	record at 5 acknowledged ── poll returns up to 7 ── EndTxn asked for
//
// A transaction that was not committed is open for certain until its timeout or
// until another producer asks for its id; the coordinator may abort it from then on,
// and a late abort of its own producer succeeds all the same.
type lsoOverrun struct{ tally }

func (*lsoOverrun) name() string { return "lso-overrun" }

// unstable is the time in which a transaction holds the last stable offset of a
// partition back.
type unstable struct {
	send  txnSend
	seq   uint64 // open for certain before this event
	fence stamp  // the first that may have fenced it, if it was not committed
	until int64  // and, in ns, before this time
	// The one of those up to here, by offset, that is open longest.
	longest *unstable
}

func (w *lsoOverrun) finish(f *facts, r *Report) {
	f.txns.closure(f)
	if len(f.txns.order) == 0 {
		return
	}
	for _, rd := range f.history.sorted() {
		open := f.unstableIn(rd)
		if len(open) == 0 {
			continue
		}
		told := map[uint64]bool{}
		for i := range rd.polls.len() {
			p := rd.polls.at(i)
			if !p.committedRead() {
				continue
			}
			w.checks++
			n, _ := slices.BinarySearchFunc(open, p.end, func(u unstable, o kafka.Offset) int { return cmp.Compare(u.send.offset, o) })
			if n == 0 {
				continue
			}
			u := open[n-1].longest
			if u.seq <= p.seq || told[u.send.txn.id] || rd.shows(p, u.send) || r.full(w.name(), rd.tp) {
				continue
			}
			told[u.send.txn.id] = true
			var order [][2]stamp
			if ends := u.send.txn.ends; len(ends) > 0 {
				order = append(order, [2]stamp{{p.seq, p.at}, ends[0].invoked})
			}
			if u.fence.came() && u.fence.seq != never {
				order = append(order, [2]stamp{p.stamp(), u.fence})
			}
			r.settleTxn(f, w.overrun(rd, p, u), circumstances{readCommitted: true}, order...)
		}
	}
}

// shows reports whether the poll returned the record itself: that is another
// rule's finding.
func (rd *reading) shows(p *poll, s txnSend) bool {
	rec, ok := rd.at(p, s.offset)
	return ok && s.holds(rec)
}

// unstableIn lists the first record of each transaction in a partition by
// offset, and for each the one of it and those below that is open longest.
func (f *facts) unstableIn(rd *reading) []unstable {
	var open []unstable
	for _, s := range f.txns.sends[rd.tp] {
		if s.outcome != event.SendOK || s.offset == kafka.NoOffset {
			continue
		}
		if n := len(open); n > 0 && open[n-1].send.txn == s.txn {
			if s.offset < open[n-1].send.offset {
				open[n-1].send = s
			}
			continue
		}
		u := unstable{send: s}
		u.seq, u.until, u.fence = f.openUntil(s.txn)
		u.seq = min(u.seq, rd.pollAt(u.until))
		open = append(open, u)
	}
	slices.SortStableFunc(open, func(a, b unstable) int { return cmp.Compare(a.send.offset, b.send.offset) })
	for i := range open {
		open[i].longest = &open[i]
		if i > 0 && open[i-1].longest.seq >= open[i].seq {
			open[i].longest = open[i-1].longest
		}
	}
	return open
}

// openUntil is the event and the time before which a transaction is open for
// certain, and the first event that may have fenced it.
func (f *facts) openUntil(x *txn) (uint64, int64, stamp) {
	seq, until := uint64(math.MaxUint64), int64(math.MaxInt64)
	committed := false
	for _, e := range x.ends {
		seq = min(seq, e.invoked.seq)
		committed = committed || !e.abort && e.result == event.TxnEndOK
	}
	if committed {
		return seq, until, stamp{} // who commits it finds it open
	}
	if x.tid == "" || f.txns.clockMoved {
		return 0, 0, stamp{}
	}
	timeout := f.profile.producerMs(x.client, "transaction.timeout.ms", 60_000) * 1_000_000
	until = x.begin.at + timeout - f.clocks.at(x.begin.seq) - f.clocks.largest
	fence := f.txns.ids[x.tid].mayFence(&f.clocks, x.begin)
	return min(seq, fence.seq), until, fence
}

// pollAt is the event of the first poll at a time or later.
func (rd *reading) pollAt(at int64) uint64 {
	i := sort.Search(rd.polls.len(), func(i int) bool { return rd.polls.at(i).at >= at })
	if i == rd.polls.len() {
		return math.MaxUint64
	}
	return rd.polls.at(i).seq
}

func (w *lsoOverrun) overrun(rd *reading, p *poll, u *unstable) Finding {
	s := u.send
	how := "nobody had asked to end it"
	witness := []uint64{s.invoked, s.done, p.seq}
	if len(s.txn.ends) > 0 {
		how = fmt.Sprintf("its end was asked for only later (event %d)", s.txn.ends[0].invoked.seq)
		witness = append(witness, s.txn.ends[0].invoked.seq)
	}
	return Finding{Rule: w.name(), Verdict: Violation, Seq: max(p.seq, s.done), At: max(p.at, s.doneAt), TP: rd.tp, Offset: s.offset, Last: p.end - 1,
		Count: int(p.end - s.offset), Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: p.client, Attempt: s.attempt, Witness: witnesses(witness...),
		Text: fmt.Sprintf("%s: %s read committed up to offset %d (event %d), past offset %d, where %s of %s lies (acknowledged at event %d): %s",
			rd.tp, p.client, p.end, p.seq, s.offset, s.what(), s.txn.what(), s.done, how)}
}
