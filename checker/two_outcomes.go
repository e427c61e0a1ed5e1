package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// twoOutcomes: a transaction ends one way. Its coordinator remembers the last
// outcome and refuses the other one, and so do the markers in the logs say.
type twoOutcomes struct{ tally }

func (*twoOutcomes) name() string { return "two-outcomes" }

func (w *twoOutcomes) finish(f *facts, r *Report) {
	f.txns.closure(f)
	for _, x := range f.txns.order {
		var ok [2]*txnEnd // committed, aborted
		for _, e := range x.ends {
			if e.result != event.TxnEndOK {
				continue
			}
			w.checks++
			if e.abort {
				ok[1] = e
			} else {
				ok[0] = e
			}
		}
		if ok[0] == nil || ok[1] == nil || ok[0].producer != ok[1].producer || r.full(w.name(), kafka.TopicPartition{}) {
			continue
		}
		last := ok[0].done
		if ok[1].done.seq > last.seq {
			last = ok[1].done
		}
		r.settleTxn(f, Finding{Rule: w.name(), Verdict: Violation, Seq: last.seq, At: last.at, Offset: kafka.NoOffset, Last: kafka.NoOffset,
			Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: x.client, Witness: witnesses(ok[0].done.seq, ok[1].done.seq),
			Text: fmt.Sprintf("%s was both committed (event %d) and aborted (event %d)", x.what(), ok[0].done.seq, ok[1].done.seq)}, circumstances{})
	}
	w.markers(f, r)
}
