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
			if p.future() {
				r.Findings = append(r.Findings, Finding{Rule: w.name(), Verdict: Violation, Seq: p.proof, At: p.at, TP: rd.tp,
					Offset: p.offset, Last: p.offset, Count: 1, Node: kafka.NoBroker, Epoch: p.epoch, Client: p.reader, Attempt: p.attempt,
					Text: fmt.Sprintf("%s: %s read %s at offset %d (event %d): %s sent it only later (event %d)",
						rd.tp, p.reader, p.send.what(), p.offset, p.proof, p.send.client, p.send.invoked)})
			}
		}
	}
}
