package checker

import (
	"fmt"

	"tidemark/model/event"
)

// readFromFuture: no record is read before its send began.
type readFromFuture struct{ tally }

func (*readFromFuture) name() string { return "read-from-future" }

func (w *readFromFuture) finish(f *facts, r *Report) {
	f.history.each(func(rd *reading, p *poll, rec event.Record) {
		s := f.history.sends[rec.Attempt]
		if s == nil {
			return
		}
		w.checks++
		if p.seq < s.invoked {
			r.Findings = append(r.Findings, f.history.sighting(w.name(), rd, p, rec,
				fmt.Sprintf("%s sent it only later (event %d)", s.client, s.invoked)))
		}
	})
}
