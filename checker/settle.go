package checker

import (
	"fmt"
	"slices"

	"tidemark/model/kafka"
)

// A broken history can break one promise a million times. What is found first
// is written out; the rest is counted, so that such a history is judged as fast
// as a sound one and its report can be read.

// mostFindings is how many findings of a rule in a partition are written out,
// mostUnknown how many reasons of one kind not to know.
const mostFindings, mostUnknown = 64, 8

// Found counts what a rule found in a partition, written out or not.
type Found struct {
	Rule     string
	TP       kafka.TopicPartition
	Findings int // written out
	Left     int // beyond those
	Notes    int // of things that were never promised
	Note     int // the place of the one that tells of them, from 1; 0 for none
	Unknown  int // that could not be decided
}

// found returns the count of a rule in a partition.
func (r *Report) found(rule string, tp kafka.TopicPartition) *Found {
	for _, k := range slices.Backward(r.Found) { // rules go on where they are
		if k.Rule == rule && k.TP == tp {
			return k
		}
	}
	k := &Found{Rule: rule, TP: tp}
	r.Found = append(r.Found, k)
	return k
}

// full reports whether a rule has told enough of a partition, and counts one
// more that it does not tell. Ask it before writing a finding out.
func (r *Report) full(rule string, tp kafka.TopicPartition) bool {
	k := r.found(rule, tp)
	if k.Findings < mostFindings && k.Notes < mostFindings && k.Unknown < mostFindings {
		return false
	}
	k.Left++
	return true
}

// settle enters what a rule found as the contract says. The pairs of events in
// order are those whose order the finding rests on, first what came first; where
// clocks may err so much that one of them is open, so is the finding.
func (r *Report) settle(f *facts, x Finding, c circumstances, order ...[2]stamp) {
	c.profile, c.topic, c.closed = &f.profile, x.TP.Topic, f.closed()
	if p := f.partition(x.TP); p != nil && len(p.elections) > 0 {
		c.elected = true
	}
	k := r.found(x.Rule, x.TP)
	if c.doubt {
		if k.Unknown++; k.Unknown <= mostUnknown {
			r.Unknown = append(r.Unknown, "clock-uncertainty: "+x.Text+" (if the events took place in the order of the history)")
		}
		return
	}
	for _, pair := range order {
		if !f.clocks.before(pair[0], pair[1]) {
			if k.Unknown++; k.Unknown <= mostUnknown {
				r.Unknown = append(r.Unknown, fmt.Sprintf("clock-uncertainty: %s (if events %d and %d took place in this order)", x.Text, pair[0].seq, pair[1].seq))
			}
			return
		}
	}
	clause := clauseFor(x.Rule, &c)
	switch clause.says {
	case promised:
		k.Findings++
		x.Contract = clause.why
		slices.Sort(x.Witness)
		x.Witness = slices.Compact(x.Witness)
		r.Findings = append(r.Findings, x)
	case notPromised:
		if k.Notes++; k.Notes == 1 {
			r.Notes = append(r.Notes, Note{x.Rule, x.Seq, x.Text + ": " + clause.why})
			k.Note = len(r.Notes)
		}
	case undecidable:
		if k.Unknown++; k.Unknown == 1 {
			r.Unknown = append(r.Unknown, fmt.Sprintf("%s: %s: %s", x.Rule, x.Text, clause.why))
		}
	}
}

// tellCounts adds what each rule did not write out.
func (r *Report) tellCounts() {
	for _, k := range r.Found {
		switch {
		case k.Note > 0 && k.Notes+k.Left > 1:
			r.Notes[k.Note-1].Text += fmt.Sprintf(" (the first of %d)", k.Notes+k.Left)
		case k.Note == 0 && k.Left > 0:
			r.Notes = append(r.Notes, Note{k.Rule, 0, fmt.Sprintf("%s: %s more like those listed", k.TP, count(k.Left, "finding"))})
		}
	}
}
