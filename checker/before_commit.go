package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// ackedBeforeCommit: when a producer is told of success with acks=all, the true
// high watermark is past the record.
type ackedBeforeCommit struct{ tally }

func (*ackedBeforeCommit) name() string { return "acked-before-commit" }

func (*ackedBeforeCommit) kinds() []event.Kind { return []event.Kind{event.SendOK} }

func (a *ackedBeforeCommit) observe(f *facts, e *event.Event, r *Report) {
	if e.Acks != -1 || e.Offset == kafka.NoOffset {
		return
	}
	p := f.watched(e.TP())
	if p == nil {
		return
	}
	a.checks++
	if e.Offset >= p.truth.end {
		r.Findings = append(r.Findings, Finding{Rule: a.name(), Verdict: Violation, Seq: e.Seq, At: e.At, Witness: []uint64{e.Seq}, TP: p.tp,
			Offset: e.Offset, Last: e.Offset, Count: 1, Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: e.Client, Attempt: e.Attempt,
			Text: fmt.Sprintf("%s: %s was acknowledged with acks=all at offset %d, and the high watermark was %d",
				p.tp, f.history.what(e.Attempt), e.Offset, p.truth.end)}.excuse(p.excuseBetween(e.Offset, 0, e.Seq)))
	}
}

// readBeforeCommit: a consumer is given only what lies below the true high
// watermark.
type readBeforeCommit struct{ tally }

func (*readBeforeCommit) name() string { return "read-before-commit" }

func (*readBeforeCommit) kinds() []event.Kind { return []event.Kind{event.PollOK} }

func (b *readBeforeCommit) observe(f *facts, e *event.Event, r *Report) {
	if len(e.Records) == 0 {
		return
	}
	p := f.watched(e.TP())
	if p == nil {
		return
	}
	b.checks++
	last := &e.Records[len(e.Records)-1]
	if last.Offset >= p.truth.end {
		r.Findings = append(r.Findings, Finding{Rule: b.name(), Verdict: Violation, Seq: e.Seq, At: e.At, Witness: []uint64{e.Seq}, TP: p.tp,
			Offset: p.truth.end, Last: last.Offset, Count: int(last.Offset - p.truth.end + 1), Node: kafka.NoBroker, Epoch: kafka.NoEpoch,
			Client: e.Client, Attempt: last.Attempt,
			Text: fmt.Sprintf("%s: %s was given offset %d, and the high watermark was %d", p.tp, e.Client, last.Offset, p.truth.end),
		}.excuse(p.excuseBetween(last.Offset, 0, e.Seq)))
	}
}

// watched is the lineage of a partition whose leaders are seen from inside, nil
// for one that only clients tell of.
func (f *facts) watched(tp kafka.TopicPartition) *partition {
	if p := f.partition(tp); p != nil && p.leader != nil {
		return p
	}
	return nil
}
