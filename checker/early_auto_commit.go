package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// earlyAutoCommit: what enable.auto.commit commits by itself has been processed:
// it is the position that the consumer had when the application asked for more
// the last time. A consumer that commits what its latest poll returned loses it
// if the application dies while it works on it.
//
// A consumer that is closed or gives a partition up commits everything, so only
// a commit of one that polled on counts.
type earlyAutoCommit struct{ tally }

func (*earlyAutoCommit) name() string { return "early-auto-commit" }

func (w *earlyAutoCommit) finish(f *facts, r *Report) {
	f.groups.place(f)
	for _, p := range f.groups.order {
		for _, c := range p.commits {
			if !c.polledOn || c.consumed == kafka.NoOffset {
				continue
			}
			w.checks++
			if c.offset > c.consumed && !r.full(w.name(), p.tp) {
				x := c.finding(w.name(), fmt.Sprintf("it had been given records up to %d when it polled last (event %d)", c.consumed, c.polled), c.polled, c.invoked.seq)
				x.Offset, x.Last = c.consumed, c.offset-1
				r.settleTxn(f, x, circumstances{client: c.client})
			}
		}
	}
}
