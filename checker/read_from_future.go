package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// readFromFuture: no record is read before its send began.
type readFromFuture struct{ tally }

func (*readFromFuture) name() string { return "read-from-future" }

func (w *readFromFuture) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		o := f.orderOf(rd)
		for i := range o.places {
			p := &o.places[i]
			if p.send == nil {
				continue
			}
			w.checks++
			if p.future() && !r.full(w.name(), rd.tp) {
				read, s := rd.provenAt(p), p.send
				r.settle(f, Finding{Rule: w.name(), Verdict: Violation, Seq: p.proof, At: read.at, TP: rd.tp,
					Offset: p.offset, Last: p.offset, Count: 1, Node: kafka.NoBroker, Epoch: p.epoch, Client: rd.whose(p), Attempt: p.attempt,
					Witness: []uint64{p.proof, s.invoked},
					Text: fmt.Sprintf("%s: %s read %s at offset %d (event %d): %s sent it only later (event %d)",
						rd.tp, rd.whose(p), s.what(), p.offset, p.proof, s.client, s.invoked)}, circumstances{client: s.client}, [2]stamp{read, {s.invoked, s.at}})
			}
		}
	}
}
