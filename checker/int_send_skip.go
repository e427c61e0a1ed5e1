package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// intSendSkip: other producers' records lie between two records of one
// transaction. Kafka promises nothing else; it is worth a note to those who
// expect transactions to be blocks.
type intSendSkip struct{ tally }

func (*intSendSkip) name() string { return "int-send-skip" }

func (w *intSendSkip) finish(f *facts, r *Report) {
	if len(f.txns.order) == 0 {
		return
	}
	for _, rd := range f.history.sorted() {
		runs := map[uint64]run{} // by transaction: the last one
		var at run               // the one at hand
		x := rd.index(&f.history)
		for i := range x.places {
			p := &x.places[i]
			if !p.data() {
				continue
			}
			txn := uint64(0)
			if p.send != nil && p.send.session != nil {
				txn = p.send.session.Txn
			}
			if txn != 0 {
				w.checks++
			}
			if txn != at.txn || txn == 0 {
				if at.txn != 0 {
					runs[at.txn] = at
				}
				q := runs[txn]
				if at = (run{txn, p}); txn != 0 && q.last != nil && !r.full(w.name(), rd.tp) {
					r.settle(f, w.apart(rd, q.last, p), circumstances{client: p.send.client, session: p.send.session})
				}
			}
			at.last = p
		}
	}
}

// run is records of one transaction, or of none, that nothing lies between.
type run struct {
	txn  uint64
	last *place
}

func (w *intSendSkip) apart(rd *reading, a, b *place) Finding {
	at := rd.provenAt(b)
	return Finding{Rule: w.name(), Verdict: Violation, Seq: at.seq, At: at.at, TP: rd.tp, Offset: a.offset, Last: b.offset,
		Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: b.send.client, Attempt: b.attempt, Witness: []uint64{a.proof, b.proof},
		Text: fmt.Sprintf("%s: records of others lie between %s at offset %d and %s at offset %d, which one transaction wrote",
			rd.tp, a.send.what(), a.offset, b.send.what(), b.offset)}
}
