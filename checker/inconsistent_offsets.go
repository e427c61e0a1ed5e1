package checker

import (
	"cmp"
	"fmt"
	"slices"

	"tidemark/model/kafka"
)

// inconsistentOffsets: an offset has one value. What a consumer was given and
// what a producer was told with acks=all are both proofs; an acknowledgement
// with acks=1 is none, because the record was never committed.
type inconsistentOffsets struct{ tally }

func (*inconsistentOffsets) name() string { return "inconsistent-offsets" }

// proof is one statement that a value lies at an offset.
type proof struct {
	offset        kafka.Offset
	seq           uint64
	at            int64
	attempt, hash uint64
	client        string
	acked         bool
}

func (a *proof) contradicts(b *proof) bool {
	if a.attempt != 0 && b.attempt != 0 {
		return a.attempt != b.attempt
	}
	return a.hash != b.hash
}

// tell says what a proof proves.
func (h *history) tell(a *proof) string {
	if a.acked {
		return fmt.Sprintf("%s was acknowledged there (event %d)", h.what(a.attempt), a.seq)
	}
	return fmt.Sprintf("%s read %s there (event %d)", a.client, h.what(a.attempt), a.seq)
}

func (c *inconsistentOffsets) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		proofs := rd.proofs()
		var group []Finding
		for i := 1; i < len(proofs); i++ {
			if proofs[i].offset != proofs[i-1].offset {
				continue
			}
			c.checks++
			if proofs[i].contradicts(&proofs[i-1]) {
				group = appendGrouped(group, c.conflict(f, rd.tp, &proofs[i-1], &proofs[i]))
				for i+1 < len(proofs) && proofs[i+1].offset == proofs[i].offset {
					i++ // one finding for an offset
				}
			}
		}
		r.Findings = append(r.Findings, group...)
	}
}

// proofs are sorted by offset, then by event.
func (rd *reading) proofs() []proof {
	ps := make([]proof, 0, len(rd.records)+len(rd.acked))
	for i := range rd.polls {
		p := &rd.polls[i]
		for _, rec := range rd.records[p.lo:p.hi] {
			ps = append(ps, proof{rec.Offset, p.seq, p.at, rec.Attempt, rec.Hash, p.client, false})
		}
	}
	for _, s := range rd.acked {
		if s.promised() {
			ps = append(ps, proof{s.offset, s.done, s.doneAt, s.attempt, s.hash, s.client, true})
		}
	}
	slices.SortStableFunc(ps, func(a, b proof) int { return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.seq, b.seq)) })
	return ps
}

func (c *inconsistentOffsets) conflict(f *facts, tp kafka.TopicPartition, a, b *proof) Finding {
	x := Finding{Rule: c.name(), Verdict: Violation, Seq: b.seq, At: b.at, TP: tp, Offset: a.offset, Last: a.offset, Count: 1,
		Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: a.client, Attempt: a.attempt,
		Text: fmt.Sprintf("%s: offset %d has two values: %s, and %s", tp, a.offset, f.history.tell(a), f.history.tell(b))}
	if a.acked {
		x.Acked = Moment{a.seq, a.at, kafka.NoBroker, f.history.tell(a)}
	}
	if p := f.partition(tp); p != nil {
		return x.excuse(p.excuseBetween(a.offset, f.history.begun(a), b.seq))
	}
	return x
}

// begun is the event from which on a proof's record may have been in the log.
func (h *history) begun(a *proof) uint64 {
	if s := h.sends[a.attempt]; s != nil {
		return min(s.invoked, a.seq)
	}
	return a.seq
}
