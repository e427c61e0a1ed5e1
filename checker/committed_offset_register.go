package checker

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// committedOffsetRegister: a group's committed offset of a partition is a
// register: each fetch of it fits one order of all commits and fetches in real
// time. Commits that failed take no part, nor do those of unknown outcome that
// nobody fetched.
//
// A long history falls apart at the instants at which nothing is in work and one
// commit was the last: the value is known there. The parts are small and are
// judged one by one:
//
//	one operation alone     a fetch finds the value, a commit replaces it
//	each value once         zones (register_zones)
//	else                    porcupine (offset_model), up to maxSearched operations
type committedOffsetRegister struct{ tally }

func (*committedOffsetRegister) name() string { return "committed-offset-register" }

// offsetOp is an operation on the register.
type offsetOp struct {
	kind      offsetOpKind
	value     kafka.Offset
	call, ret uint64 // events; ret is never for an operation that may end at any time
	at        int64  // ns, of ret
	client    string
	txn       *txn
	// staged is the event from which on a transaction's offset was on its way.
	staged uint64
	// stagedBy is the event by which it had arrived, never for not known.
	stagedBy uint64
	// The same as told by clocks; endedAt is none where the end is not certain.
	calledAt, stagedAt, endedAt stamp

	seen uint64 // the fetch that proves a commit of unknown outcome, 0 for none
	// spare: the outcome is unknown, and another commit of the same offset may
	// explain every fetch of it.
	spare  bool
	commit *commitOp
}

type offsetOpKind uint8

const (
	offsetCommit offsetOpKind = iota
	offsetTxnCommit
	offsetFetch
)

const never = math.MaxUint64

func (w *committedOffsetRegister) finish(f *facts, r *Report) {
	f.txns.closure(f)
	for _, p := range f.groups.order {
		if len(p.fetches) > 0 {
			w.checks += len(p.fetches)
			w.judge(f, p, r)
		}
	}
}

// judge judges without the spare commits, for they may end at any time and hold
// all parts together. Only where nothing fits does it let them in. The first
// value is told with them all the same: without them, what they wrote would pass
// for what was there from the beginning.
func (w *committedOffsetRegister) judge(f *facts, p *groupPartition, r *Report) {
	ops := f.offsetOps(p)
	initial := unwritten(ops)
	sure := slices.DeleteFunc(slices.Clone(ops), func(op offsetOp) bool { return op.spare })
	bad, crowded := judgeOffsets(sure, initial)
	if bad != nil || crowded {
		bad, crowded = judgeOffsets(ops, initial)
	}
	switch {
	case crowded:
		f.unknown = append(f.unknown, fmt.Sprintf("crowded: %s: more than %d commits and fetches of group %s overlap, too many to be searched", p.tp, maxSearched, p.group))
	case bad != nil:
		bad.Rule, bad.TP = w.name(), p.tp
		bad.Text = fmt.Sprintf("%s: no order of the commits of group %s explains its fetches: %s", p.tp, p.group, bad.Text)
		r.settleTxn(f, *bad, circumstances{doubt: f.fitsByClocks(ops)})
	}
}

// fitsByClocks reports whether operations that do not fit in the order of the history
// do, or may, in another that the clocks allow.
func (f *facts) fitsByClocks(ops []offsetOp) bool {
	if !f.clocks.err() {
		return false
	}
	wide := f.widened(ops)
	bad, crowded := judgeOffsets(wide, unwritten(wide))
	return bad == nil || crowded
}

func judgeOffsets(ops []offsetOp, initial kafka.Offset) (bad *Finding, crowded bool) {
	reg := offsetRegister{initial: initial}
	for len(ops) > 0 && bad == nil && !crowded {
		n := reg.part(ops)
		bad, crowded = reg.judge(ops[:n])
		ops = ops[n:]
	}
	return bad, crowded
}

// offsetOps lists the operations that may have taken place and that a fetch can
// tell of, by the event at which they began.
func (f *facts) offsetOps(p *groupPartition) []offsetOp {
	read := make(map[kafka.Offset]uint64, len(p.fetches)) // the end of the first fetch of a value
	for _, q := range p.fetches {
		if at, ok := read[q.offset]; !ok || q.done.seq < at {
			read[q.offset] = q.done.seq
		}
	}
	writers := make(map[kafka.Offset]int, len(p.commits))
	for _, c := range p.commits {
		if c.effective() {
			writers[c.offset]++
		}
	}
	ops := make([]offsetOp, 0, len(p.commits)+len(p.fetches))
	for _, c := range p.commits {
		if !c.effective() {
			continue
		}
		op, certain := f.offsetOp(p, c)
		seen, wasRead := read[c.offset]
		only := writers[c.offset] == 1
		if !certain && !wasRead {
			continue
		}
		op.spare = !certain && !only
		if !certain && only && seen >= op.call {
			op.ret, op.seen = seen, seen
		}
		ops = append(ops, op)
	}
	for _, q := range p.fetches {
		if q.afterRemoval(f, p) {
			continue
		}
		ops = append(ops, offsetOp{kind: offsetFetch, value: q.offset, call: q.invoked.seq, ret: q.done.seq, at: q.done.at, client: q.client, staged: q.invoked.seq,
			calledAt: q.invoked, stagedAt: q.invoked, endedAt: q.done})
	}
	slices.SortStableFunc(ops, func(a, b offsetOp) int { return cmp.Compare(a.staged, b.staged) })
	return ops
}

// offsetOp makes the operation of a commit, and says whether it is certain that
// it took place.
func (f *facts) offsetOp(p *groupPartition, c *commitOp) (offsetOp, bool) {
	op := offsetOp{kind: offsetCommit, value: c.offset, call: c.invoked.seq, ret: never, client: c.client, txn: c.txn, staged: c.invoked.seq, stagedBy: never, commit: c, calledAt: c.invoked, stagedAt: c.invoked}
	if c.txn == nil {
		if c.result == event.CommitOK {
			op.ret, op.at, op.endedAt = c.done.seq, c.done.at, c.done
		}
		return op, c.result == event.CommitOK
	}
	op.kind = offsetTxnCommit
	if asked, ok := c.txn.commitAsked(); ok {
		op.calledAt = latest(op.calledAt, asked)
		op.call = op.calledAt.seq
	}
	if c.done.came() {
		op.stagedBy = c.done.seq
	}
	if c.txn.outcome == txnCommitted {
		op.ret = max(op.call, f.appliedBy(p, c))
	}
	return op, c.txn.outcome == txnCommitted
}

// appliedBy is an event by which the marker of a committed transaction had made
// its offset the committed one: the end of a fetch that waits for pending
// offsets and was asked for after the commit, or the first success in a later
// transaction of the same id, which the coordinator does not begin before.
func (f *facts) appliedBy(p *groupPartition, c *commitOp) uint64 {
	by := f.txns.nextSuccess(c.txn)
	if asked, ok := c.txn.commitAsked(); ok && c.result == event.CommitOK {
		by = min(by, p.stableAfter(max(c.done.seq, asked.seq)))
	}
	return by
}

// unwritten is the register's first value: what a fetch returned and nothing had
// written by then, or nothing at all.
func unwritten(ops []offsetOp) kafka.Offset {
	written := map[kafka.Offset]uint64{} // the first call of a commit of the value
	for i := range ops {
		if op := &ops[i]; op.kind != offsetFetch {
			if at, ok := written[op.value]; !ok || op.call < at {
				written[op.value] = op.call
			}
		}
	}
	for i := range ops {
		if op := &ops[i]; op.kind == offsetFetch {
			if at, ok := written[op.value]; !ok || at > op.ret {
				return op.value
			}
		}
	}
	return kafka.NoOffset
}

// offsetFinding tells of operations that do not fit.
func offsetFinding(last *offsetOp, text string, ops ...*offsetOp) *Finding {
	var witness []uint64
	for _, op := range ops {
		witness = append(witness, op.call)
		if op.ret != never {
			witness = append(witness, op.ret)
		}
	}
	return &Finding{Verdict: Violation, Seq: last.ret, At: last.at, Offset: last.value, Last: last.value, Node: kafka.NoBroker, Epoch: kafka.NoEpoch,
		Client: last.client, Witness: witnesses(witness...), Text: text}
}

// String names the operation in a sentence.
func (op *offsetOp) String() string {
	value := "nothing"
	if op.value != kafka.NoOffset {
		value = strconv.FormatInt(int64(op.value), 10)
	}
	switch op.kind {
	case offsetFetch:
		return fmt.Sprintf("%s fetched %s (event %d)", op.client, value, op.ret)
	case offsetTxnCommit:
		return fmt.Sprintf("%s committed %s in %s (event %d)", op.client, value, op.txn.what(), op.staged)
	}
	if op.seen != 0 {
		return fmt.Sprintf("%s committed %s (event %d, fetched at event %d)", op.client, value, op.staged, op.seen)
	}
	return fmt.Sprintf("%s committed %s (event %d)", op.client, value, op.staged)
}
