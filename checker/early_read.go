package checker

import "fmt"

// earlyRead: nothing of a transaction is read as committed before anybody asked
// to commit it. A coordinator that ends a transaction by an old request, meant
// for the one before, makes it happen (KAFKA-14402, mended by KIP-890).
type earlyRead struct{ tally }

func (*earlyRead) name() string { return "early-read" }

func (w *earlyRead) finish(f *facts, r *Report) {
	f.txns.closure(f)
	for _, x := range f.txns.order {
		asked, ok := x.commitAsked()
		if !ok || x.outcome != txnCommitted {
			continue
		}
		w.checks += len(x.sightings)
		s := x.seenByOthers()
		if s == nil || s.poll.seq > asked.seq || r.full(w.name(), s.rd.tp) {
			continue
		}
		why := fmt.Sprintf("the commit of %s was asked for only later (event %d)", x.what(), asked.seq)
		r.settleTxn(f, s.finding(w.name(), why, asked.seq), circumstances{readCommitted: true}, [2]stamp{{s.poll.seq, s.poll.at}, asked})
	}
}
