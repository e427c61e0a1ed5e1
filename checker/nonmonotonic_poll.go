package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// nonmonotonicPoll: each poll begins where the one before ended or above, unless
// a seek, a reset or a new assignment lies between them. Within one poll and
// within one transaction it is intNonmonotonicPoll.
type nonmonotonicPoll struct {
	tally
	within bool
}

func (n *nonmonotonicPoll) name() string {
	if n.within {
		return "int-nonmonotonic-poll"
	}
	return "nonmonotonic-poll"
}

func (*nonmonotonicPoll) kinds() []event.Kind { return []event.Kind{event.PollOK} }

func (n *nonmonotonicPoll) observe(f *facts, e *event.Event, r *Report) {
	s := &f.sessions.step
	if !s.known || s.within != n.within {
		return
	}
	n.checks++
	if e.Offset < s.was && !r.full(n.name(), e.TP()) {
		rd := f.history.reading(e.TP())
		r.settle(f, leapt(n.name(), e.TP(), rd.polls.at(rd.polls.len()-1), s), circumstances{client: e.Client})
	}
}

// finish judges the records within each poll.
func (n *nonmonotonicPoll) finish(f *facts, r *Report) {
	if !n.within {
		return
	}
	for _, rd := range f.history.sorted() {
		n.checks += rd.polls.len()
		for _, b := range rd.index(&f.history).back {
			if r.full(n.name(), rd.tp) {
				continue
			}
			rec := rd.record(b.record)
			r.settle(f, f.history.sighting(n.name(), rd, rd.poll(b.poll), rec,
				fmt.Sprintf("the same poll gave offset %d before it", rd.record(b.record-1).Offset)), circumstances{client: rd.poll(b.poll).client})
		}
	}
}

// leapt is a finding about a position that nothing moved.
func leapt(rule string, tp kafka.TopicPartition, p *poll, s *pollStep) Finding {
	return Finding{Rule: rule, Verdict: Violation, Seq: p.seq, At: p.at, TP: tp,
		Offset: min(s.was, p.from), Last: max(s.was, p.from) - 1, Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: p.client, Witness: []uint64{s.seq, p.seq},
		Text: fmt.Sprintf("%s: the position of %s went from %d to %d (event %d), and no reset says why", tp, p.client, s.was, p.from, p.seq)}
}
