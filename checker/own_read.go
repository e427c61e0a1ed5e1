package checker

import "fmt"

// ownRead: a transaction that reads committed is not given what it wrote itself;
// Kafka has no read-your-writes before the commit.
type ownRead struct{ tally }

func (*ownRead) name() string { return "own-read" }

func (w *ownRead) finish(f *facts, r *Report) {
	f.txns.closure(f)
	for _, x := range f.txns.order {
		for i := range x.reads {
			if ref := x.reads[i]; ref.rd.polls.at(ref.poll).committedRead() {
				w.checks++
			}
		}
		for i := range x.sightings {
			if s := &x.sightings[i]; s.own() && !r.full(w.name(), s.rd.tp) {
				r.settleTxn(f, s.finding(w.name(), fmt.Sprintf("%s wrote it, and reads within itself", x.what())), circumstances{readCommitted: true})
				break
			}
		}
	}
}
