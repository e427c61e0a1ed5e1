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
			r.settleTxn(f, w.halfApplied(m), circumstances{}, m.order()...)
		}
	}
}

// due is a committed transaction's offset, or the newest of several, that every
// stable fetch called after ready finds, or a newer one.
type dueOffset struct {
	ready  stamp
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
			due = append(due, dueOffset{latest(c.done, c.txn.decided), c})
		}
	}
	slices.SortStableFunc(due, func(a, b dueOffset) int { return cmp.Compare(a.ready.seq, b.ready.seq) })
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
			r.settleTxn(f, w.torn(p, q, c, fmt.Sprintf("and %s is %s: %s", c.txn.what(), c.txn.outcome, c.txn.endStory())), circumstances{}, [2]stamp{c.invoked, q.done})
			continue
		}
		n, _ := slices.BinarySearchFunc(due, q.invoked.seq, func(d dueOffset, s uint64) int { return cmp.Compare(d.ready.seq, s) })
		if n == 0 || q.unstable || q.afterRemoval(f, p) {
			continue
		}
		c, written := due[n-1].commit, writers[q.offset].until(&f.clocks, q)
		if !told[c.txn] && written.seq < c.invoked.seq && !r.full(w.name(), p.tp) {
			told[c.txn] = true
			order := [][2]stamp{{due[n-1].ready, q.invoked}}
			if written.came() {
				order = append(order, [2]stamp{written, c.invoked})
			}
			r.settleTxn(f, w.torn(p, q, c, fmt.Sprintf("though %s, which commits offset %d, is committed: %s", c.txn.what(), c.offset, c.txn.proof)), circumstances{}, order...)
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
	calls  []stamp   // of those that may have counted
	latest []stamp   // up to each of them, the last event at which it may have been appended
	void   *commitOp // the first of a transaction that was not committed, nil for none
}

func (w *writersOf) add(c *commitOp) {
	if !c.effective() {
		if w.void == nil && c.txn != nil {
			w.void = c
		}
		return
	}
	at := stamp{seq: never}
	if c.result == event.CommitOK {
		at = c.done
	}
	if n := len(w.latest); n > 0 {
		at = latest(at, w.latest[n-1])
	}
	w.calls, w.latest = append(w.calls, c.invoked), append(w.latest, at)
}

// until is the last event at which the offset of a fetch may have been appended
// as a commit; one that did not come if nothing wrote it.
func (w *writersOf) until(k *clocks, q *fetchOp) stamp {
	if w == nil {
		return stamp{}
	}
	i, _ := slices.BinarySearchFunc(w.calls, q.done.seq, func(c stamp, s uint64) int { return cmp.Compare(c.seq, s) })
	for i < len(w.calls) && !k.before(q.done, w.calls[i]) {
		i++
	}
	if i == 0 {
		return stamp{}
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
