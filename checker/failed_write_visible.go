package checker

import (
	"fmt"

	"tidemark/model/event"
)

// failedWriteVisible: a record whose send failed for certain is never read. What
// is certain, the table of errors says.
type failedWriteVisible struct{ tally }

func (*failedWriteVisible) name() string { return "failed-write-visible" }

func (w *failedWriteVisible) finish(f *facts, r *Report) {
	if w.checks = f.history.failed; w.checks == 0 {
		return
	}
	for _, rd := range f.history.sorted() {
		x := rd.index(&f.history)
		for i := range x.places {
			p := &x.places[i]
			if s := p.send; s == nil || s.outcome != event.SendFail || p.first < 0 || r.full(w.name(), rd.tp) {
				continue
			}
			found := f.history.sighting(w.name(), rd, rd.poll(p.first), rd.record(p.record),
				fmt.Sprintf("%s failed for certain (event %d)", p.send.what(), p.send.done))
			found.Witness = []uint64{p.send.done, found.Seq}
			r.settle(f, found, circumstances{client: p.send.client, code: p.send.code})
		}
	}
}

// sighting is a finding about one record that was read.
func (h *history) sighting(rule string, rd *reading, p *poll, rec event.Record, why string) Finding {
	return Finding{Rule: rule, Verdict: Violation, Seq: p.seq, At: p.at, TP: rd.tp, Offset: rec.Offset, Last: rec.Offset, Count: 1,
		Node: -1, Epoch: rec.Epoch, Client: p.client, Attempt: rec.Attempt, Witness: []uint64{p.seq},
		Text: fmt.Sprintf("%s: %s read %s at offset %d (event %d): %s", rd.tp, p.client, h.what(rec.Attempt), rec.Offset, p.seq, why)}
}
