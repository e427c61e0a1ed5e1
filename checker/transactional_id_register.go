package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// transactionalIDRegister: a transactional id has one owner at a time. Once
// InitProducerId gave it to a producer, the coordinator accepts nothing of an
// older one: no EndTxn, no offsets, and no older epoch is given out again.
//
// Epochs give the owners' order, so an operation is legal if and only if it was
// asked for before the first owner that fences it had its answer.
type transactionalIDRegister struct{ tally }

func (*transactionalIDRegister) name() string { return "transactional-id-register" }

// accepted is one success that the coordinator gave to a producer of an id.
type accepted struct {
	producer      producerEpoch
	client, what  string
	invoked, done stamp
	offsets       bool
}

func (w *transactionalIDRegister) finish(f *facts, r *Report) {
	f.txns.closure(f)
	for _, id := range f.txns.byID {
		if !id.owned() {
			continue
		}
		for _, a := range id.accepted() {
			w.checks++
			op := id.fencer(&f.clocks, a.producer)
			if op == nil || op.done.seq > a.invoked.seq || r.full(w.name(), kafka.TopicPartition{}) {
				continue
			}
			r.settleTxn(f, w.fenced(id, op, a), circumstances{offsets: a.offsets}, [2]stamp{op.done, a.invoked})
		}
		w.shared(f, id, r)
	}
}

func (w *transactionalIDRegister) fenced(id *transactionalID, op *initOp, a accepted) Finding {
	return Finding{Rule: w.name(), Verdict: Violation, Seq: a.done.seq, At: a.done.at, Offset: kafka.NoOffset, Last: kafka.NoOffset,
		Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: a.client, Witness: witnesses(op.done.seq, a.invoked.seq, a.done.seq),
		Text: fmt.Sprintf("%s: %s took it over as %s (event %d), and %s, asked for after that by %s (event %d), succeeded (event %d)",
			id.id, op.client, op.producer, op.done.seq, a.what, a.producer, a.invoked.seq, a.done.seq)}
}

// shared finds a producer id and epoch that two clients were given.
func (w *transactionalIDRegister) shared(f *facts, id *transactionalID, r *Report) {
	first := map[producerEpoch]*initOp{}
	for _, op := range id.owners {
		old := first[op.producer]
		if old == nil || old.client == op.client {
			first[op.producer] = op
			continue
		}
		if r.full(w.name(), kafka.TopicPartition{}) {
			return
		}
		r.settleTxn(f, Finding{Rule: w.name(), Verdict: Violation, Seq: op.done.seq, At: op.done.at, Offset: kafka.NoOffset,
			Last: kafka.NoOffset, Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: op.client, Witness: witnesses(old.done.seq, op.done.seq),
			Text: fmt.Sprintf("%s: both %s (event %d) and %s (event %d) own it as %s", id.id, old.client, old.done.seq, op.client, op.done.seq, op.producer)}, circumstances{})
	}
}

// accepted lists what the coordinator granted, in order of transactions.
func (id *transactionalID) accepted() []accepted {
	var all []accepted
	for _, op := range id.owners {
		all = append(all, accepted{op.producer, op.client, "another InitProducerId", op.invoked, op.done, false})
	}
	for _, x := range id.txns {
		for _, e := range x.ends {
			if e.result == event.TxnEndOK {
				all = append(all, accepted{e.producer, e.client, "the end of " + x.what(), e.invoked, e.done, false})
			}
		}
		for _, c := range x.offsets {
			if c.result == event.CommitOK {
				all = append(all, accepted{producerOf(c.session), c.client, "the offsets of " + x.what(), c.invoked, c.done, true})
			}
		}
	}
	return all
}
