package checker

import (
	"fmt"
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// doubleProcessing: a record that a group consumes within transactions has the
// outputs of one committed transaction. A send says from which record it was
// made; a transaction that commits the group's offsets with its outputs is
// exactly-once processing (KIP-98, KIP-447). Outputs of transactions without
// offsets, or without transactions, are at-least-once: a note. So is work that
// the application asked for a second time by seeking back, and what was read again
// because the group had lost its offset to its age or to DeleteGroups (groupLife).
type doubleProcessing struct{ tally }

func (*doubleProcessing) name() string { return "double-processing" }

// processed is a record that a group made outputs of.
type processed struct {
	group  string // "" where the transaction committed no offsets
	topic  string // of the output: two applications may share an input
	source string
}

func (w *doubleProcessing) finish(f *facts, r *Report) {
	f.txns.closure(f)
	if f.history.made == 0 {
		return
	}
	first := make(map[processed]txnSend, f.history.made)
	told := map[processed]bool{}
	for s := range f.history.sends.each() {
		if s.source == "" {
			continue
		}
		x := f.txns.of(s)
		if s.outcome == event.SendFail || x != nil && x.outcome != txnCommitted || x == nil && s.outcome != event.SendOK {
			continue
		}
		w.checks++
		key := processed{x.group(), s.tp.Topic, s.source}
		old, again := first[key]
		if !again {
			first[key] = txnSend{s, x}
			continue
		}
		if old.txn == x && x != nil || told[key] || old.client != s.client && key.group == "" {
			continue
		}
		told[key] = true
		if r.full(w.name(), s.tp) {
			continue
		}
		finding, c := w.twice(f, key, old, txnSend{s, x})
		r.settleTxn(f, finding, c)
	}
}

// group is the group whose offsets the transaction commits, "" for none.
func (x *txn) group() string {
	if x == nil || len(x.offsets) == 0 {
		return ""
	}
	return x.offsets[0].group
}

// twice tells of two outputs, and what may have led to the second.
func (w *doubleProcessing) twice(f *facts, key processed, a, b txnSend) (Finding, circumstances) {
	by := func(s txnSend) string {
		if s.txn == nil {
			return fmt.Sprintf("%s (event %d)", s.what(), s.invoked)
		}
		return fmt.Sprintf("%s by %s (event %d)", s.what(), s.txn.what(), s.invoked)
	}
	text := fmt.Sprintf("%s was processed twice: %s and %s are both there", key.source, by(a), by(b))
	if key.group != "" {
		text = fmt.Sprintf("%s was processed twice for group %s: %s and %s are both committed", key.source, key.group, by(a), by(b))
	}
	witness := []uint64{a.invoked, b.invoked}
	for _, s := range []txnSend{a, b} {
		if s.txn != nil {
			witness = append(witness, s.txn.decided.seq)
		}
	}
	x := Finding{Rule: w.name(), Verdict: Violation, Seq: b.invoked, At: b.at, TP: b.tp, Offset: b.offset, Last: b.offset, Count: 1,
		Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: b.client, Attempt: b.attempt, Witness: witnesses(witness...), Text: text}
	c := circumstances{client: b.client, exactlyOnce: key.group != ""}
	if tp, o, ok := parseSource(key.source); ok {
		c.application = slices.ContainsFunc(f.groups.resets[tp], func(m positionReset) bool {
			return m.reason == "seek" && m.to <= o && !f.clocks.before(m.stamp, a.called()) && !f.clocks.before(b.called(), m.stamp)
		})
		p := f.groups.partitions[groupTP{key.group, tp}]
		c.anew = p != nil && p.removedBetween(f, a.called(), b.called())
	}
	return x, c
}
