package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// readBeyondWatermark: what a broker gives a consumer lies below the high
// watermark that it tells in the same answer, and below the last stable offset
// if the consumer reads committed. So does the position after it, though it may
// have passed over offsets that held nothing for the consumer.
//
// Where the brokers are seen from inside, a read and what is told of it are one step.
// Apache Kafka takes the two offsets before it reads (Partition.readRecords), so what
// is committed in between may be in its answer: there the rule only notes it.
type readBeyondWatermark struct{ tally }

func (*readBeyondWatermark) name() string { return "read-beyond-watermark" }

func (*readBeyondWatermark) kinds() []event.Kind { return []event.Kind{event.PollOK} }

func (w *readBeyondWatermark) observe(f *facts, e *event.Event, r *Report) {
	if e.End <= e.Offset {
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
	if e.End <= bound || r.full(w.name(), e.TP()) {
		return
	}
	x := Finding{Rule: w.name(), Verdict: Violation, Seq: e.Seq, At: e.At, TP: e.TP(), Offset: bound, Last: e.End - 1, Count: int(e.End - bound),
		Node: e.Peer, Epoch: kafka.NoEpoch, Client: e.Client, Witness: []uint64{e.Seq},
		Text: fmt.Sprintf("%s: %s read up to offset %d (event %d), and the %s in the same answer is %d", e.TP(), e.Client, e.End, e.Seq, what, bound)}
	if n := len(e.Records); n > 0 && e.Records[n-1].Offset >= bound {
		rec := &e.Records[n-1]
		x.Epoch, x.Attempt = rec.Epoch, rec.Attempt
		x.Text = fmt.Sprintf("%s: %s was given offset %d (event %d), and the %s in the same answer is %d", e.TP(), e.Client, rec.Offset, e.Seq, what, bound)
	}
	r.settle(f, x, circumstances{client: e.Client, inside: f.watched(e.TP()) != nil})
}
