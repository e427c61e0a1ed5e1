package checker

import (
	"fmt"

	"tidemark/model/event"
)

// duplicate: a send lies at one offset. An idempotent producer is promised it
// (KIP-98); without idempotence a retry may write twice, which is a note.
type duplicate struct {
	tally
	memory producerMemory
}

func (*duplicate) name() string { return "duplicate" }

func (w *duplicate) observe(_ *facts, e *event.Event, _ *Report) { w.memory.observe(e) }

func (w *duplicate) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		w.partition(f, rd, r)
	}
}

func (w *duplicate) partition(f *facts, rd *reading, r *Report) {
	first := map[uint64]event.Record{}
	reported := map[uint64]bool{}
	var findings []Finding // of idempotent producers
	var repeats []repeat
	unpromised := 0
	var example Finding
	for i := range rd.polls {
		p := &rd.polls[i]
		for _, rec := range rd.records[p.lo:p.hi] {
			s := f.history.sends[rec.Attempt]
			if s == nil {
				continue
			}
			w.checks++
			old, seen := first[rec.Attempt]
			if !seen {
				first[rec.Attempt] = rec
			}
			if !seen || old.Offset == rec.Offset || reported[rec.Attempt] {
				continue
			}
			reported[rec.Attempt] = true
			x := f.history.sighting(w.name(), rd, p, rec, fmt.Sprintf("%s lies at offset %d too", s.what(), old.Offset))
			if f.profile.idempotent(s.client) {
				findings = append(findings, x)
				repeats = append(repeats, repeat{s.client, old.Offset, rec.Offset})
				continue
			}
			if unpromised++; unpromised == 1 {
				example = x
			}
		}
	}
	for i, premise := range w.memory.premises(&f.history, rd, repeats) {
		if premise != "" {
			findings[i].Verdict, findings[i].Premise = Excused, premise
		}
	}
	r.Findings = append(r.Findings, findings...)
	if unpromised > 0 {
		r.Notes = append(r.Notes, Note{w.name(), example.Seq, fmt.Sprintf("%s: %s written twice by a producer without idempotence, the first one %s at offset %d",
			rd.tp, count(unpromised, "record"), f.history.what(example.Attempt), example.Offset)})
	}
}
