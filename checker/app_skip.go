package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// appSkip: an application that aborts a transaction goes back to where it began
// to read. Kafka does not rewind a consumer for it, so who reads on has skipped
// what it was given: a note.
type appSkip struct{ tally }

func (*appSkip) name() string { return "app-skip" }

func (w *appSkip) finish(f *facts, r *Report) {
	f.txns.closure(f)
	next := pollsOfReaders{}
	for _, x := range f.txns.order {
		if x.outcome != txnAborted {
			continue
		}
		for _, ref := range x.reads {
			p := ref.rd.polls.at(ref.poll)
			if p.lo == p.hi {
				continue
			}
			w.checks++
			on := next.after(ref)
			if on == nil || on.from < p.end || f.txns.inside(on) == x || r.full(w.name(), ref.rd.tp) {
				continue
			}
			first := ref.rd.record(p.lo).Offset
			r.settleTxn(f, Finding{Rule: w.name(), Verdict: Violation, Seq: on.seq, At: on.at, TP: ref.rd.tp, Offset: first, Last: p.end - 1, Count: int(p.hi - p.lo),
				Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: p.client, Witness: witnesses(p.seq, x.decided.seq, on.seq),
				Text: fmt.Sprintf("%s: %s was given offsets %d to %d in %s (event %d), which was aborted, and read on from %d (event %d)",
					ref.rd.tp, p.client, first, p.end-1, x.what(), p.seq, on.from, on.seq)}, circumstances{client: p.client})
		}
	}
}

// pollsOfReaders finds each reader's next poll of a partition; a partition is
// looked through once.
type pollsOfReaders map[*reading][]int

// after is the next poll of the same reader in the same partition, nil for none.
func (m pollsOfReaders) after(ref readRef) *poll {
	next, known := m[ref.rd]
	if !known {
		next = make([]int, ref.rd.polls.len())
		last := map[string]int{}
		for i := len(next) - 1; i >= 0; i-- {
			client := ref.rd.polls.at(i).client
			next[i] = last[client] // 0: none, for poll 0 comes after no other
			last[client] = i
		}
		m[ref.rd] = next
	}
	if i := next[ref.poll]; i > 0 {
		return ref.rd.polls.at(i)
	}
	return nil
}
