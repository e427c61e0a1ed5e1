package checker

import (
	"fmt"

	"tidemark/model/event"
)

// corruptValue: a record is read with the value that was sent.
type corruptValue struct{ tally }

func (*corruptValue) name() string { return "corrupt-value" }

func (w *corruptValue) finish(f *facts, r *Report) {
	f.history.each(func(rd *reading, p *poll, rec event.Record) {
		s := f.history.sends[rec.Attempt]
		if s == nil {
			return
		}
		w.checks++
		if s.hash != rec.Hash {
			r.Findings = append(r.Findings, f.history.sighting(w.name(), rd, p, rec,
				fmt.Sprintf("its value has the hash %016x, %s sent %016x (event %d)", rec.Hash, s.client, s.hash, s.invoked)))
		}
	})
}
