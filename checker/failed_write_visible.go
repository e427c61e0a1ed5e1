package checker

import (
	"fmt"

	"tidemark/model/event"
)

// failedWriteVisible: a record whose send failed for certain is never read.
type failedWriteVisible struct{ tally }

func (*failedWriteVisible) name() string { return "failed-write-visible" }

func (w *failedWriteVisible) finish(f *facts, r *Report) {
	f.history.each(func(rd *reading, p *poll, rec event.Record) {
		s := f.history.sends[rec.Attempt]
		if s == nil || s.outcome != event.SendFail {
			return
		}
		r.Findings = append(r.Findings, f.history.sighting(w.name(), rd, p, rec,
			fmt.Sprintf("%s failed for certain (event %d)", s.what(), s.done)))
	})
	for _, s := range f.history.order {
		if s.outcome == event.SendFail {
			w.checks++
		}
	}
}

// sighting is a finding about one record that was read.
func (h *history) sighting(rule string, rd *reading, p *poll, rec event.Record, why string) Finding {
	return Finding{Rule: rule, Verdict: Violation, Seq: p.seq, At: p.at, TP: rd.tp, Offset: rec.Offset, Last: rec.Offset, Count: 1,
		Node: -1, Epoch: rec.Epoch, Client: p.client, Attempt: rec.Attempt,
		Text: fmt.Sprintf("%s: %s read %s at offset %d (event %d): %s", rd.tp, p.client, h.what(rec.Attempt), rec.Offset, p.seq, why)}
}
