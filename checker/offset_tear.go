package checker

import (
	"cmp"
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// offsetTear: the offsets that a transaction commits for a group belong to it as
// its records do. Once it is committed, a fetch that waits for pending offsets
// (KIP-447) finds its offset or a later one; the offset of an aborted one is found
// by nobody; and where the offset shows that it was committed, its records are
// there.
type offsetTear struct{ tally }

func (*offsetTear) name() string { return "offset-tear" }

func (w *offsetTear) finish(f *facts, r *Report) {
	f.txns.closure(f)
	for _, p := range f.groups.order {
		if len(p.fetches) > 0 && slices.ContainsFunc(p.commits, func(c *commitOp) bool { return c.txn != nil }) {
			w.partition(f, p, r)
		}
	}
	missing, _ := f.missingSends()
	for i := range missing {
		if m := &missing[i]; m.send.txn.seen == nil && m.send.txn.applied != nil && !r.full(w.name(), m.send.tp) {
			r.settleTxn(f, w.halfApplied(m), circumstances{})
		}
	}
}

// due is a committed transaction's offset, or the newest of several, that every
// stable fetch called after ready finds, or a newer one.
type dueOffset struct {
	ready  uint64
	commit *commitOp
}

func (w *offsetTear) partition(f *facts, p *groupPartition, r *Report) {
	var due []dueOffset
	writers := map[kafka.Offset]*writersOf{}
	for _, c := range p.commits {
		if writers[c.offset] == nil {
			writers[c.offset] = &writersOf{}
		}
		writers[c.offset].add(c)
		if c.txn != nil && c.txn.outcome == txnCommitted && c.result != event.CommitFail {
			due = append(due, dueOffset{max(c.done.seq, c.txn.decided.seq), c})
		}
	}
	slices.SortStableFunc(due, func(a, b dueOffset) int { return cmp.Compare(a.ready, b.ready) })
	for i := 1; i < len(due); i++ {
		if due[i].commit.invoked.seq < due[i-1].commit.invoked.seq {
			due[i].commit = due[i-1].commit
		}
	}
	told := map[*txn]bool{}
	for _, q := range p.fetches {
		w.checks++
		if c := writers[q.offset].voidOf(p, q); c != nil && !told[c.txn] && !r.full(w.name(), p.tp) {
			told[c.txn] = true
			r.settleTxn(f, w.torn(p, q, c, fmt.Sprintf("and %s is %s: %s", c.txn.what(), c.txn.outcome, c.txn.endStory())), circumstances{})
			continue
		}
		n, _ := slices.BinarySearchFunc(due, q.invoked.seq, func(d dueOffset, s uint64) int { return cmp.Compare(d.ready, s) })
		if n == 0 || q.unstable || p.expired(f, q) {
			continue
		}
		if c := due[n-1].commit; !told[c.txn] && writers[q.offset].until(q) < c.invoked.seq && !r.full(w.name(), p.tp) {
			told[c.txn] = true
			r.settleTxn(f, w.torn(p, q, c, fmt.Sprintf("though %s, which commits offset %d, is committed: %s", c.txn.what(), c.offset, c.txn.proof)), circumstances{})
		}
	}
}

// endStory says why a transaction is not committed.
func (x *txn) endStory() string {
	if x.proof == (proof{}) {
		return "nobody asked to commit it"
	}
	return x.proof.String()
}

// writersOf is the commits of one offset.
type writersOf struct {
	calls  []uint64  // of those that may have counted
	latest []uint64  // up to each of them, the last event at which it may have been appended
	void   *commitOp // the first of a transaction that was not committed, nil for none
}

func (w *writersOf) add(c *commitOp) {
	if !c.effective() {
		if w.void == nil && c.txn != nil {
			w.void = c
		}
		return
	}
	at := uint64(never)
	if c.result == event.CommitOK {
		at = c.done.seq
	}
	if n := len(w.latest); n > 0 {
		at = max(at, w.latest[n-1])
	}
	w.calls, w.latest = append(w.calls, c.invoked.seq), append(w.latest, at)
}

// until is the last event at which the offset of a fetch may have been appended
// as a commit; 0 if nothing wrote it.
func (w *writersOf) until(q *fetchOp) uint64 {
	if w == nil {
		return 0
	}
	i, _ := slices.BinarySearch(w.calls, q.done.seq)
	if i == 0 {
		return 0
	}
	return w.latest[i-1]
}

// voidOf is the commit of a fetched offset if it belongs to a transaction that
// was not committed and nothing else explains the offset; nil otherwise.
func (w *writersOf) voidOf(p *groupPartition, q *fetchOp) *commitOp {
	if w == nil || len(w.calls) > 0 || w.void == nil || w.void.invoked.seq > q.done.seq {
		return nil
	}
	if slices.ContainsFunc(p.fetches, func(o *fetchOp) bool { return o.offset == q.offset && o.done.seq < w.void.invoked.seq }) {
		return nil
	}
	return w.void
}

func (w *offsetTear) torn(p *groupPartition, q *fetchOp, c *commitOp, why string) Finding {
	witness := []uint64{c.invoked.seq, c.txn.decided.seq, q.invoked.seq, q.done.seq}
	return Finding{Rule: w.name(), Verdict: Violation, Seq: q.done.seq, At: q.done.at, TP: p.tp, Offset: q.offset, Last: q.offset,
		Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: q.client, Witness: witnesses(witness...),
		Text: fmt.Sprintf("%s: %s fetched offset %d of group %s (event %d), %s", p.tp, q.client, q.offset, p.group, q.done.seq, why)}
}

// halfApplied tells of a transaction whose offset is there and whose record is not.
func (w *offsetTear) halfApplied(m *missingSend) Finding {
	x := m.send.txn
	where, witness := m.story()
	return Finding{Rule: w.name(), Verdict: Violation, Seq: max(m.poll.seq, x.decided.seq), At: max(m.poll.at, x.decided.at), TP: m.send.tp,
		Offset: m.send.offset, Last: m.send.offset, Count: 1, Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: m.send.client, Attempt: m.send.attempt,
		Witness: witnesses(append(witness, x.applied.invoked.seq, x.applied.done.seq)...),
		Text:    fmt.Sprintf("%s is torn: %s, and %s", x.what(), x.proof, where)}
}
