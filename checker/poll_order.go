package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// pollOrder: each poll of a session begins where the one before ended, unless
// a reset between them says why not. A poll that begins later skipped records
// (poll-skip), one that begins earlier repeats them (nonmonotonic-poll).
type pollOrder struct {
	tally
	rule      string
	back      bool
	positions map[session]kafka.Offset
}

type session struct {
	client string
	tp     kafka.TopicPartition
}

func (o *pollOrder) name() string { return o.rule }

func (o *pollOrder) observe(f *facts, e *event.Event, r *Report) {
	if e.Kind != event.PollOK && e.Kind != event.PositionReset {
		return
	}
	if o.positions == nil {
		o.positions = map[session]kafka.Offset{}
	}
	s := session{e.Client, e.TP()}
	position, known := o.positions[s]
	o.positions[s] = e.End
	if e.Kind != event.PollOK || !known {
		return
	}
	o.checks++
	if e.Offset > position && !o.back || e.Offset < position && o.back {
		r.Findings = append(r.Findings, Finding{Rule: o.rule, Verdict: Violation, Seq: e.Seq, At: e.At, TP: s.tp,
			Offset: min(position, e.Offset), Last: max(position, e.Offset) - 1, Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: e.Client,
			Text: fmt.Sprintf("%s: the position of %s went from %d to %d (event %d), and no reset says why", s.tp, e.Client, position, e.Offset, e.Seq)})
	}
}
