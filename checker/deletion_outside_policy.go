package checker

import (
	"fmt"
	"strings"

	"tidemark/model/kafka"
)

// deletionOutsidePolicy: a log start moves for one of the reasons that the
// topic's settings allow: records older than retention.ms, a log larger than
// retention.bytes, or a DeleteRecords request.
type deletionOutsidePolicy struct{ tally }

func (*deletionOutsidePolicy) name() string { return "deletion-outside-policy" }

func (w *deletionOutsidePolicy) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		for i := range rd.facts.starts {
			s := &rd.facts.starts[i]
			w.checks++
			if why := w.why(f, rd, s); why != "" && !r.full(w.name(), rd.tp) {
				r.settle(f, Finding{Rule: w.name(), Verdict: Violation, Seq: s.seq, At: s.at, TP: rd.tp, Offset: 0, Last: s.offset - 1,
					Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Witness: []uint64{s.seq},
					Text: fmt.Sprintf("%s: the log start moved to %d by %s (event %d): %s", rd.tp, s.offset, s.reason, s.seq, why)}, circumstances{inside: true})
			}
		}
		w.told(f, r, rd)
	}
}

// why says what forbids a move, "" for nothing.
func (w *deletionOutsidePolicy) why(f *facts, rd *reading, s *logStart) string {
	if strings.HasPrefix(s.reason, "delete-records") {
		return ""
	}
	if !strings.HasPrefix(s.reason, "retention") {
		return "neither retention nor DeleteRecords"
	}
	policy := f.profile.topic(rd.tp.Topic, "cleanup.policy")
	if policy != "" && !strings.Contains(policy, "delete") {
		return "cleanup.policy is " + policy
	}
	if bytes := f.profile.topic(rd.tp.Topic, "retention.bytes"); bytes != "" && bytes != "-1" {
		return "" // by size; the history does not show how large the log was
	}
	text := f.profile.topic(rd.tp.Topic, "retention.ms")
	switch text {
	case "":
		return ""
	case "-1":
		return "retention.ms is -1 and retention.bytes is not set"
	}
	keep := f.profile.millis(rd.tp.Topic, "retention.ms", 0)
	x := rd.index(&f.history)
	for i := range x.places {
		p := &x.places[i]
		if p.offset >= s.offset {
			break
		}
		if p.send != nil && p.send.invoked < s.seq && f.clocks.most(p.send.called(), s.stamp) < keep {
			return fmt.Sprintf("%s at offset %d was %d ms old at the most, and retention.ms is %s", p.send.what(), p.offset, f.clocks.most(p.send.called(), s.stamp)/1_000_000, text)
		}
	}
	return ""
}

// told judges what clients were told where no event tells of a move.
func (w *deletionOutsidePolicy) told(f *facts, r *Report, rd *reading) {
	if f.profile.topic(rd.tp.Topic, "retention.ms") != "-1" {
		return
	}
	for i := range rd.facts.ends {
		e := &rd.facts.ends[i]
		if e.latest {
			continue
		}
		w.checks++
		moved := kafka.Offset(0)
		for _, s := range rd.facts.starts {
			moved = max(moved, s.offset)
		}
		if e.offset > moved && !r.full(w.name(), rd.tp) {
			r.settle(f, Finding{Rule: w.name(), Verdict: Violation, Seq: e.done.seq, At: e.done.at, TP: rd.tp, Offset: moved, Last: e.offset - 1,
				Node: kafka.NoBroker, Epoch: kafka.NoEpoch, Client: e.client, Witness: []uint64{e.done.seq},
				Text: fmt.Sprintf("%s: %s was told that the log begins at %d (event %d), and retention.ms is -1", rd.tp, e.client, e.offset, e.done.seq)}, circumstances{})
		}
	}
}
