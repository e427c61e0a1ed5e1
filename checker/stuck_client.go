package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// stuckClient: without a fault a send is answered within bound.stuck.ms.
type stuckClient struct{ tally }

func (*stuckClient) name() string { return "stuck-client" }

func (w *stuckClient) finish(f *facts, r *Report) {
	bound := f.profile.millis("", boundStuck, 0)
	if bound <= 0 {
		return
	}
	bound += 2 * f.clocks.largest
	for s := range f.history.sends.each() {
		if s.at+bound > f.ended.at || f.disturbed(s.called(), s.at+bound) {
			continue
		}
		w.checks++
		if s.done != 0 && s.doneAt <= s.at+bound || r.full(w.name(), s.tp) {
			continue
		}
		r.settle(f, Finding{Rule: w.name(), Verdict: Violation, Seq: s.invoked, At: s.at, TP: s.tp, Offset: kafka.NoOffset, Last: kafka.NoOffset,
			Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: s.client, Attempt: s.attempt, Witness: []uint64{s.invoked},
			Text: fmt.Sprintf("%s: %s was sent (event %d) and not answered within %d ms, in which there was no fault", s.tp, s.what(), s.invoked, bound/1_000_000)},
			circumstances{client: s.client})
	}
}
