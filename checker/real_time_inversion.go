package checker

import (
	"fmt"

	"tidemark/model/kafka"
)

// realTimeInversion: no record that was sent after another was known to be in
// the log lies below that one. Kafka does not promise it in these words; it
// follows from a partition being one log that its leaders only append to.
type realTimeInversion struct{ tally }

func (*realTimeInversion) name() string { return "real-time-inversion" }

func (w *realTimeInversion) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		w.checks += f.orderOf(rd).sweep(func(late, proven *place) {
			r.Findings = append(r.Findings, w.inverted(rd.tp, late, proven))
		})
	}
}

// inverted names its witnesses, three operations at most: the late send, the
// record above it, and the read that proved that one.
func (w *realTimeInversion) inverted(tp kafka.TopicPartition, late, proven *place) Finding {
	last := late
	if proven.proof > late.proof {
		last = proven
	}
	return Finding{Rule: w.name(), Verdict: Violation, Seq: last.proof, At: last.at, TP: tp, Offset: late.offset, Last: proven.offset,
		Count: 2, Node: kafka.NoBroker, Epoch: late.epoch, Client: late.send.client, Attempt: late.attempt,
		Text: fmt.Sprintf("%s: %s was sent (event %d) after %s, and yet lies at offset %d (%s)",
			tp, late.send.what(), late.send.invoked, proven.story(), late.offset, late.evidence())}
}

// evidence says what proved the place first.
func (p *place) evidence() string {
	if p.reader == "" {
		return fmt.Sprintf("acknowledged at event %d", p.proof)
	}
	return fmt.Sprintf("read by %s at event %d", p.reader, p.proof)
}

// story says who had proof of the place.
func (p *place) story() string {
	switch {
	case p.end:
		return fmt.Sprintf("%s had read up to offset %d (event %d)", p.reader, p.offset+1, p.proof)
	case p.send == nil:
		return fmt.Sprintf("%s had read a record at offset %d (event %d)", p.reader, p.offset, p.proof)
	case p.reader == "":
		return fmt.Sprintf("%s had been acknowledged at offset %d (event %d)", p.send.what(), p.offset, p.proof)
	}
	return fmt.Sprintf("%s had read %s at offset %d (event %d)", p.reader, p.send.what(), p.offset, p.proof)
}
