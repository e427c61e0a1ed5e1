package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// commitBeyondPosition: a consumer commits nothing that it has not been given.
type commitBeyondPosition struct{ tally }

func (*commitBeyondPosition) name() string { return "commit-beyond-position" }

func (w *commitBeyondPosition) finish(f *facts, r *Report) {
	f.groups.place(f)
	for _, p := range f.groups.order {
		for _, c := range p.commits {
			if c.position == kafka.NoOffset {
				continue
			}
			w.checks++
			if c.offset > c.position && !r.full(w.name(), p.tp) {
				x := c.finding(w.name(), fmt.Sprintf("its position was %d", c.position), c.invoked.seq)
				x.Offset, x.Last = c.position, c.offset-1
				var order [][2]stamp
				if c.moved.came() {
					order = append(order, [2]stamp{c.invoked, c.moved})
				}
				r.settleTxn(f, x, circumstances{client: c.client}, order...)
			}
		}
	}
}

// finding is a broken promise about one commit.
func (c *commitOp) finding(rule, why string, more ...uint64) Finding {
	at := c.done
	if !at.came() {
		at = c.invoked
	}
	return Finding{Rule: rule, Verdict: Violation, Seq: at.seq, At: at.at, TP: c.tp, Offset: c.offset, Last: c.offset, Node: kafka.NoBroker, Epoch: kafka.NoEpoch,
		Client: c.client, Witness: witnesses(more...),
		Text: fmt.Sprintf("%s: %s committed offset %d for group %s (event %d): %s", c.tp, c.client, c.offset, c.group, c.invoked.seq, why)}
}
