package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// inconsistentOffsets: an offset has one value for everybody. An
// acknowledgement with acks=all and a read are proofs of a value; an acknowledgement
// with acks=1 is none, because the record was never committed.
type inconsistentOffsets struct{ tally }

func (*inconsistentOffsets) name() string { return "inconsistent-offsets" }

// tellProof says what proved a place first.
func (h *history) tellProof(rd *reading, p *place) string {
	if reader := rd.reader(p); reader != "" {
		what := h.what(p.attempt)
		if p.control != 0 {
			what = "a control record"
		}
		return fmt.Sprintf("%s read %s there (event %d)", reader, what, p.proof)
	}
	return fmt.Sprintf("%s was acknowledged there (event %d)", h.what(p.attempt), p.proof)
}

func (c *inconsistentOffsets) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		x := rd.index(&f.history)
		var group []Finding
		for i := range x.places {
			p := &x.places[i]
			if p.end || i > 0 && x.places[i-1].offset == p.offset {
				continue
			}
			if p.acked && p.first >= 0 || p.first != p.last {
				c.checks++
			}
			if a, b := x.rivals(i); b != nil {
				c.checks++
				if len(group) < mostFindings {
					group = appendGrouped(group, c.conflict(f, rd, a, b))
				} else {
					r.found(c.name(), rd.tp).Left++
				}
			}
		}
		for _, x := range group {
			r.settle(f, x, circumstances{client: x.Client, acks: -1})
		}
	}
}

// rivals are the two records at the offset of place i that were proven first;
// b is nil if there is one only.
func (x *logIndex) rivals(i int) (a, b *place) {
	for k := i; k < len(x.places) && x.places[k].offset == x.places[i].offset && !x.places[k].end; k++ {
		switch p := &x.places[k]; {
		case a == nil:
			a = p
		case p.proof < a.proof:
			a, b = p, a
		case b == nil || p.proof < b.proof:
			b = p
		}
	}
	return a, b
}

func (c *inconsistentOffsets) conflict(f *facts, rd *reading, a, b *place) Finding {
	at := rd.provenAt(b)
	x := Finding{Rule: c.name(), Verdict: Violation, Seq: b.proof, At: at.at, TP: rd.tp, Offset: a.offset, Last: a.offset, Count: 1,
		Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: rd.whose(a), Attempt: a.attempt, Witness: []uint64{a.proof, b.proof},
		Text: fmt.Sprintf("%s: offset %d has two values: %s, and %s", rd.tp, a.offset, f.history.tellProof(rd, a), f.history.tellProof(rd, b))}
	if s := a.send; s != nil && a.acked {
		x.Acked = Moment{s.done, s.doneAt, kafka.NoBroker, fmt.Sprintf("%s was acknowledged there (event %d)", s.what(), s.done)}
	}
	if p := f.partition(rd.tp); p != nil {
		return x.excuse(p.excuseBetween(a.offset, a.begun(), b.proof))
	}
	return x
}

// whose is the client that had the first proof of a place.
func (rd *reading) whose(p *place) string {
	if reader := rd.reader(p); reader != "" {
		return reader
	}
	return p.send.client
}

// begun is the event from which on a record may have been in the log.
func (p *place) begun() uint64 {
	if p.send != nil {
		return min(p.send.invoked, p.proof)
	}
	return p.proof
}
