package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// unseen: an acknowledged record lies below the end of the log as the leader
// tells it. That nobody read so far yet is a matter of time, and lost-write
// counts it.
type unseen struct{ tally }

func (*unseen) name() string { return "unseen" }

func (u *unseen) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		ends := rd.facts.answers(true, event.ReadUncommitted)
		if len(ends) == 0 {
			continue
		}
		x := rd.index(&f.history)
		for i := range ends {
			e := &ends[i]
			if e.follower {
				continue
			}
			u.checks++
			for k := x.find(e.offset); k < len(x.places); k++ {
				p := &x.places[k]
				if !p.acked || p.send.done >= e.invoked.seq || r.full(u.name(), rd.tp) {
					continue
				}
				r.settle(f, u.beyond(f, rd, p, e), circumstances{client: p.send.client}, [2]stamp{{p.send.done, p.send.doneAt}, e.invoked})
				break
			}
		}
	}
}

func (u *unseen) beyond(f *facts, rd *reading, p *place, e *endOffset) Finding {
	s := p.send
	x := Finding{Rule: u.name(), Verdict: Violation, Seq: e.done.seq, At: e.done.at, TP: rd.tp, Offset: s.offset, Last: s.offset, Count: 1,
		Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: s.client, Attempt: s.attempt, Witness: []uint64{s.done, e.invoked.seq, e.done.seq},
		Text: fmt.Sprintf("%s: %s was acknowledged at offset %d (event %d), and %s was told later that the log ends at %d (event %d)",
			rd.tp, s.what(), s.offset, s.done, e.client, e.offset, e.done.seq)}
	if part := f.partition(rd.tp); part != nil {
		return x.excuse(part.excuseBetween(s.offset, s.invoked, e.done.seq))
	}
	return x
}
