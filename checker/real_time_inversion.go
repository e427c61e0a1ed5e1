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
		o := f.orderOf(rd)
		w.checks += o.sweep(&f.clocks, func(late, proven *place) { w.settle(f, r, rd, late, proven) })
		if f.clocks.err() && r.found(w.name(), rd.tp).Findings == 0 {
			// By the order in which the history has them, which may be wrong.
			o.sweep(nil, func(late, proven *place) { w.settle(f, r, rd, late, proven) })
		}
	}
}

func (w *realTimeInversion) settle(f *facts, r *Report, rd *reading, late, proven *place) {
	if !r.full(w.name(), rd.tp) {
		r.settle(f, w.inverted(rd, late, proven), circumstances{client: late.send.client},
			[2]stamp{rd.provenAt(proven), {late.send.invoked, late.send.at}})
	}
}

// inverted names its witnesses, three operations at most: the late send, the
// record above it, and the read that proved that one.
func (w *realTimeInversion) inverted(rd *reading, late, proven *place) Finding {
	last := late
	if proven.proof > late.proof {
		last = proven
	}
	return Finding{Rule: w.name(), Verdict: Violation, Seq: last.proof, At: rd.provenAt(last).at, TP: rd.tp, Offset: late.offset, Last: proven.offset,
		Count: 2, Node: kafka.NoBroker, Epoch: late.epoch, Client: late.send.client, Attempt: late.attempt,
		Witness: []uint64{proven.proof, late.send.invoked, late.proof},
		Text: fmt.Sprintf("%s: %s was sent (event %d) after %s, and yet lies at offset %d (%s)",
			rd.tp, late.send.what(), late.send.invoked, rd.story(proven), late.offset, rd.evidence(late))}
}

// evidence says what proved the place first.
func (rd *reading) evidence(p *place) string {
	if reader := rd.reader(p); reader != "" {
		return fmt.Sprintf("read by %s at event %d", reader, p.proof)
	}
	return fmt.Sprintf("acknowledged at event %d", p.proof)
}

// story says who had proof of the place.
func (rd *reading) story(p *place) string {
	reader := rd.reader(p)
	switch {
	case p.end:
		return fmt.Sprintf("%s had read up to offset %d (event %d)", reader, p.offset+1, p.proof)
	case p.send == nil:
		return fmt.Sprintf("%s had read a record at offset %d (event %d)", reader, p.offset, p.proof)
	case reader == "":
		return fmt.Sprintf("%s had been acknowledged at offset %d (event %d)", p.send.what(), p.offset, p.proof)
	}
	return fmt.Sprintf("%s had read %s at offset %d (event %d)", reader, p.send.what(), p.offset, p.proof)
}
