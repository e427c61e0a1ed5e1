package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// closure decides each transaction's outcome from all the evidence, once. Call
// it when the history is complete.
func (t *txnIndex) closure(f *facts) {
	if t.closed {
		return
	}
	t.closed = true
	t.sends = map[kafka.TopicPartition][]txnSend{}
	for _, x := range t.order {
		x.told()
	}
	t.sort()
	for _, id := range t.byID {
		id.fence(&f.clocks)
	}
	t.sight(f)
	for _, x := range t.order {
		x.read()
	}
	f.groups.proveCommits(f)
}

// sort lists what transactions may have written by partition.
func (t *txnIndex) sort() {
	lists := map[kafka.TopicPartition]*[]txnSend{}
	var last *origin
	var list *[]txnSend
	for _, x := range t.order {
		for _, s := range x.sends {
			if s.outcome == event.SendFail {
				continue
			}
			if s.origin != last {
				if last, list = s.origin, lists[s.tp]; list == nil {
					list = &[]txnSend{}
					lists[s.tp] = list
				}
			}
			*list = append(roomFor(*list, 1), txnSend{s, x})
		}
	}
	// unordered: each partition has a list of its own.
	for tp, list := range lists {
		t.sends[tp] = *list
	}
}

// told takes what the ends of a transaction were answered. The first success
// decides.
func (x *txn) told() {
	asked := false // to commit, and it is not certain that it failed
	for _, e := range x.ends {
		switch {
		case e.result == event.TxnEndOK && (x.outcome == txnOpen || e.done.seq < x.decided.seq):
			outcome, words := txnCommitted, "it was committed"
			if e.abort {
				outcome, words = txnAborted, "it was aborted"
			}
			x.decide(outcome, e.done, words)
		case x.outcome != txnOpen:
		case !e.abort && e.result == event.TxnEndFail:
			x.decided, x.proof = e.done, proof{"its commit failed for certain", e.done.seq}
		case !e.abort:
			asked = true
		case x.proof == proof{}:
			x.decided, x.proof = e.invoked, proof{"nobody asked for more than its abort", e.invoked.seq}
		}
	}
	switch {
	case x.outcome != txnOpen:
	case asked:
		x.outcome, x.decided, x.proof = txnUnknown, stamp{}, proof{}
	case len(x.ends) > 0:
		x.outcome = txnAborted
	}
}

func (x *txn) decide(o txnOutcome, by stamp, words string) {
	x.outcome, x.decided, x.proof = o, by, proof{words, by.seq}
}

// fence closes the transactions that a later owner of the id ended: a producer
// that finishes InitProducerId has seen every older transaction ended, and one
// that nobody had asked to commit was aborted.
func (id *transactionalID) fence(c *clocks) {
	for _, x := range id.txns {
		if x.outcome != txnOpen && x.outcome != txnUnknown {
			continue
		}
		asked, committing := x.commitAsked()
		for _, op := range id.inits {
			if op.result == event.InitProducerOK && c.before(x.begin, op.invoked) && (!committing || c.before(op.done, asked)) {
				x.decide(txnAborted, op.done, fmt.Sprintf("%s took %s over", op.client, id.id))
				break
			}
		}
	}
}

// sight lists the committed reads of what transactions wrote.
func (t *txnIndex) sight(f *facts) {
	if len(t.order) == 0 {
		return
	}
	var all []sighting
	for _, rd := range f.history.sorted() {
		for p := range rd.polls.each() {
			if p.isolation != event.ReadCommitted {
				continue
			}
			for i := p.lo; i < p.hi; i++ {
				s, r := rd.sendOf(i), rd.records.at(int(i))
				if s == nil {
					continue
				}
				if x := t.of(s); x != nil {
					all = append(roomFor(all, 1), sighting{x, s, rd, p, seenRecord{r.offset, r.epoch, s.attempt}})
					x.sighted++
				}
			}
		}
	}
	rest := make([]sighting, len(all))
	for _, x := range t.order {
		x.sightings, rest = rest[:0:x.sighted], rest[x.sighted:]
	}
	for i := range all {
		x := all[i].txn
		x.sightings = append(x.sightings, all[i])
	}
}

// read takes the first committed read as proof: nobody reads committed what is
// not, so a transaction that somebody asked to commit was.
func (x *txn) read() {
	for i := range x.sightings {
		if s := &x.sightings[i]; x.seen == nil || s.poll.seq < x.seen.poll.seq {
			x.seen = s
		}
	}
	if x.seen != nil && x.outcome == txnUnknown {
		s := x.seen
		x.decide(txnCommitted, stamp{s.poll.seq, s.poll.at}, fmt.Sprintf("%s read %s of it at offset %d of %s",
			s.poll.client, s.send.what(), s.rec.Offset, s.rd.tp))
	}
}

// of is the transaction of a send, nil for none; its outcome may not be known
// yet.
func (t *txnIndex) of(s *send) *txn {
	if s.session == nil || s.session.Txn == 0 {
		return nil
	}
	if t.recent.session == s.session {
		return t.recent.txn
	}
	x := t.txns[s.session.Txn]
	if x != nil {
		t.recent = recentTxn{s.session, x}
	}
	return x
}

// txnOf is the transaction that a send belongs to, with its outcome; nil for
// none. Call it when the history is complete.
func (f *facts) txnOf(s *send) *txn {
	f.txns.closure(f)
	return f.txns.of(s)
}

// marker is the control record that ends a transaction in one partition: it
// takes exactly one offset, somewhere behind the last record of the transaction
// there.
type marker struct {
	after kafka.Offset // the last known record of it there; NoOffset for none
	txn   *txn
}

// markersOf lists the markers that a partition holds or may hold, by the order
// in which their transactions began. An open transaction may have been aborted
// by its timeout, so it counts too; one that sent nothing to the partition does
// not.
func (f *facts) markersOf(tp kafka.TopicPartition) []marker {
	f.txns.closure(f)
	var ms []marker
	for _, s := range f.txns.sends[tp] {
		if n := len(ms); n == 0 || ms[n-1].txn != s.txn {
			ms = append(ms, marker{kafka.NoOffset, s.txn})
		}
		m := &ms[len(ms)-1]
		m.after = max(m.after, s.offset)
	}
	for i := range ms {
		for _, g := range ms[i].txn.sightings {
			if g.rd.tp == tp {
				ms[i].after = max(ms[i].after, g.rec.Offset)
			}
		}
	}
	return ms
}

// malformed notes an event that no history can hold.
func (f *facts) malformed(e *event.Event, what string) {
	if f.misformed++; f.misformed <= mostUnknown {
		f.unknown = append(f.unknown, fmt.Sprintf("malformed: event %d of %s %s", e.Seq, e.Client, what))
	}
}
