package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// readBeyondWatermark: what a broker gives a consumer lies below the high
// watermark that it tells in the same answer, and below the last stable offset
// if the consumer reads committed.
type readBeyondWatermark struct{ tally }

func (*readBeyondWatermark) name() string { return "read-beyond-watermark" }

func (*readBeyondWatermark) kinds() []event.Kind { return []event.Kind{event.PollOK} }

func (w *readBeyondWatermark) observe(f *facts, e *event.Event, r *Report) {
	if len(e.Records) == 0 {
		return
	}
	bound, what := e.HighWatermark, "high watermark"
	if e.Isolation == event.ReadCommitted && e.LastStable != kafka.NoOffset && (bound == kafka.NoOffset || e.LastStable < bound) {
		bound, what = e.LastStable, "last stable offset"
	}
	if bound == kafka.NoOffset {
		return
	}
	w.checks++
	rec := &e.Records[len(e.Records)-1]
	if rec.Offset >= bound && !r.full(w.name(), e.TP()) {
		r.settle(f, Finding{Rule: w.name(), Verdict: Violation, Seq: e.Seq, At: e.At, TP: e.TP(), Offset: bound, Last: rec.Offset, Count: int(rec.Offset - bound + 1),
			Node: e.Peer, Epoch: rec.Epoch, Client: e.Client, Attempt: rec.Attempt, Witness: []uint64{e.Seq},
			Text: fmt.Sprintf("%s: %s was given offset %d (event %d), and the %s in the same answer is %d", e.TP(), e.Client, rec.Offset, e.Seq, what, bound)},
			circumstances{client: e.Client})
	}
}
