package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// producerOrder: what one producer sends to one partition lies there in the
// order in which it was sent. Only acknowledged sends of one session are
// compared: after a send that failed, a producer is free to go on without it.
type producerOrder struct{ tally }

func (*producerOrder) name() string { return "producer-order" }

func (w *producerOrder) finish(f *facts, r *Report) {
	latest := make([]*place, len(f.history.senders.byClient)) // by producer: of what lies below, the one sent last
	for _, rd := range f.history.sorted() {
		clear(latest)
		o := f.orderOf(rd)
		for i := range o.places {
			p := &o.places[i]
			if p.send == nil || !p.lowest || !p.acked && p.send.outcome != event.SendOK || rd.gone(f, p) {
				continue
			}
			above := latest[p.who]
			if above == nil || above.sent < p.sent {
				latest[p.who] = p
			}
			if above == nil || f.history.identified > 0 && !sameSession(above.send, p.send) || len(o.cuts) > 0 && o.lineage(above) != o.lineage(p) {
				continue
			}
			w.checks++
			if p.sent < above.sent && !r.full(w.name(), rd.tp) {
				r.settle(f, w.reordered(f, rd, above, p), circumstances{client: p.send.client, session: p.send.session, acks: p.send.acks})
			}
		}
	}
}

// gone reports whether a poll over a place, which may have come later than the proof
// of it, did not show it.
func (rd *reading) gone(f *facts, p *place) bool {
	return p.cover > p.last && !f.clocks.before(rd.poll(p.cover).stamp(), rd.provenAt(p))
}

// sameSession reports whether two sends of one client may be of one producer: no
// producer id says otherwise. A producer that raises its epoch keeps its order
// (KIP-360).
func sameSession(a, b *send) bool {
	x, y := a.session, b.session
	return x == nil || y == nil || x.ProducerID == y.ProducerID
}

// reordered: above was sent later and lies below.
func (w *producerOrder) reordered(f *facts, rd *reading, later, earlier *place) Finding {
	at, how := rd.provenAt(earlier), ""
	if b := rd.provenAt(later); b.seq > at.seq {
		at = b
	}
	a, b := earlier.send, later.send
	if a.session != nil && b.session != nil && a.session.Txn != 0 && a.session.Txn == b.session.Txn {
		how = ", in one transaction"
	}
	x := Finding{Rule: w.name(), Verdict: Violation, Seq: at.seq, At: at.at, TP: rd.tp, Offset: later.offset, Last: earlier.offset, Count: 2,
		Node: kafka.NoBroker, Epoch: earlier.epoch, Client: a.client, Attempt: a.attempt, Witness: []uint64{a.invoked, b.invoked, earlier.proof, later.proof},
		Text: fmt.Sprintf("%s: %s was sent (event %d) before %s (event %d)%s, and lies above it, at offset %d, not below offset %d",
			rd.tp, a.what(), a.invoked, b.what(), b.invoked, how, earlier.offset, later.offset)}
	if p := f.partition(rd.tp); p != nil {
		return x.excuse(p.excuseBetween(later.offset, 0, at.seq))
	}
	return x
}
