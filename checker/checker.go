package checker

import (
	"cmp"
	"slices"
	"strconv"

	"tidemark/model/event"
)

// rule is one promise of Kafka. To add one, write a file with a type that
// embeds tally and list it in New.
type rule interface {
	// name is how reports and expectations call the rule.
	name() string
	// observe judges one event; the facts have taken it in before.
	observe(f *facts, e *event.Event, r *Report)
	// finish judges what only the whole run can tell.
	finish(f *facts, r *Report)
	// count is how much the rule judged so far.
	count() (checks int, due bool)
}

// tally counts a rule's checks and supplies what most rules do not need.
type tally struct {
	checks int
	due    bool // there was something to judge
}

func (t *tally) count() (int, bool)                    { return t.checks, t.due }
func (t *tally) observe(*facts, *event.Event, *Report) {}
func (t *tally) finish(*facts, *Report)                {}

// Checker judges a run while it goes on. Make one with New.
type Checker struct {
	facts  *facts
	rules  []rule
	report Report
}

// New returns a checker of a run that did nothing yet.
func New() *Checker {
	return &Checker{facts: newFacts(), rules: []rule{
		&logMatching{}, &leaderCompleteness{}, &hwMonotone{}, &oneLeaderPerEpoch{}, &audit{}, &invariant{}, &alterPartitionRegister{},
		&ackedBeforeCommit{}, &readBeforeCommit{},
		&lostWrite{}, &inconsistentOffsets{}, &failedWriteVisible{}, &readFromFuture{}, &realTimeInversion{}, &phantom{}, &corruptValue{}, &duplicate{},
		&unexplainedGap{}, &pollOrder{rule: "poll-skip"}, &pollOrder{rule: "nonmonotonic-poll", back: true},
		&checkerDisagreement{},
	}}
}

// Check judges a whole trace.
func Check(events []event.Event) Report {
	c := New()
	for i := range events {
		c.Observe(&events[i])
	}
	return c.Report()
}

// Observe takes the next event in. It keeps no reference to e or its lists.
func (c *Checker) Observe(e *event.Event) {
	c.facts.observe(e)
	for _, r := range c.rules {
		r.observe(c.facts, e, &c.report)
	}
}

// Report ends the run and gives the verdict. It must be called once.
func (c *Checker) Report() Report {
	r := &c.report
	judged := 0
	for _, rule := range c.rules {
		rule.finish(c.facts, r)
		checks, due := rule.count()
		r.Checks = append(r.Checks, Count{Rule: rule.name(), Checks: checks, Due: due})
		judged += checks
	}
	if judged == 0 {
		r.Unknown = append(r.Unknown, "vacuous: nothing in this run could be judged")
	}
	r.Unknown = append(r.Unknown, c.facts.unknown...)
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Offset, b.Offset))
	})
	r.judge()
	return *r
}

// nth writes "record 5" or "records 5 to 9", from an offset to an inclusive one.
func nth(from, last int64) string {
	if from == last {
		return "record " + strconv.FormatInt(from, 10)
	}
	return "records " + strconv.FormatInt(from, 10) + " to " + strconv.FormatInt(last, 10)
}
