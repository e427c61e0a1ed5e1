package checker

import (
	"slices"

	"tidemark/model/kafka"
)

// Verdict is what the checker says of a run or of one finding.
type Verdict string

// The verdicts; the package comment says what each means.
const (
	Pass      Verdict = "pass"
	Violation Verdict = "violation"
	Excused   Verdict = "excused"
	Unknown   Verdict = "unknown"
)

// Report is the checker's answer for a whole run.
type Report struct {
	Verdict  Verdict
	Findings []Finding // by Seq, then rule
	Notes    []Note    // what looks odd and was never promised
	Unknown  []string  // why the run cannot tell, empty if it can
	Checks   []Count   // by rule: how much was judged
	Gaps     []Gaps    // by partition: what each offset that was read past is
	Found    []*Found  // by rule and partition: how much was found, listed above or not
}

// Finding is a broken promise, with its witnesses.
type Finding struct {
	Rule    string
	Verdict Verdict // Violation or Excused
	Premise string  // Excused: the premise that was broken
	Seq     uint64  // the event at which it became true
	At      int64   // ns, of that event
	Text    string  // one sentence
	// Witness holds the events that prove it, as few as the rule needs,
	// ascending: the history of these alone breaks the promise too.
	Witness []uint64
	// Secondary: another finding explains this one; Cause is that one's rule.
	Secondary bool
	Cause     string
	// Ledger lists the premises of a lost record's durability: held, broken or
	// not shown.
	Ledger   []string
	Contract string // why it was promised under this profile, "" where it always is

	TP     kafka.TopicPartition
	Offset kafka.Offset // the first offset concerned, NoOffset for none
	Last   kafka.Offset // the last one
	Count  int          // records concerned, from Offset to Last
	Node   kafka.BrokerID
	Epoch  kafka.LeaderEpoch

	Client  string // who was promised, of the first record
	Attempt uint64
	// Acked is the acknowledgement, Lost what removed the record from the
	// replica that was to lead (or kept it from ever holding it), Sealed that
	// replica's election. Seq is 0 where a moment is not known.
	Acked, Lost, Sealed Moment
}

// Moment is one event among a finding's witnesses.
type Moment struct {
	Seq  uint64
	At   int64 // ns
	Node kafka.BrokerID
	Text string
}

// Note is a remark that breaks no promise.
type Note struct {
	Rule string
	Seq  uint64 // 0: of the whole run
	Text string
}

// Count says how many checks a rule made. A rule that was due and made none
// has judged nothing, and the run's verdict is unknown.
type Count struct {
	Rule   string
	Checks int
	Due    bool
}

// Broken lists the rules with a violation, sorted, each once.
func (r Report) Broken() []string { return r.rules(Violation) }

// Excused lists the rules with an excused finding and no violation, sorted.
func (r Report) Excused() []string {
	broken := r.Broken()
	return slices.DeleteFunc(r.rules(Excused), func(s string) bool { return slices.Contains(broken, s) })
}

func (r Report) rules(v Verdict) []string {
	var names []string
	for i := range r.Findings {
		if r.Findings[i].Verdict == v {
			names = append(names, r.Findings[i].Rule)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// judge sets the verdict: a violation stands whatever else is not known; an
// excuse does not, because the run may have gone astray before it.
func (r *Report) judge() {
	for i := range r.Checks {
		if r.Checks[i].Due && r.Checks[i].Checks == 0 {
			why := "vacuous: " + r.Checks[i].Rule + " had something to judge and could judge none of it"
			if r.Checks[i].Rule == (&lostWrite{}).name() {
				why += ": no client read on to where the acknowledged records lie (end the plan with a verify)"
			}
			r.Unknown = append(r.Unknown, why)
		}
	}
	switch {
	case len(r.Broken()) > 0:
		r.Verdict = Violation
	case len(r.Unknown) > 0:
		r.Verdict = Unknown
	case len(r.Findings) > 0:
		r.Verdict = Excused
	default:
		r.Verdict = Pass
	}
}
