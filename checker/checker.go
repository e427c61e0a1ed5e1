package checker

import (
	"slices"
	"strconv"

	"tidemark/model/event"
)

// rule is one promise of Kafka. To add one, write a file with a type that
// embeds tally and list it in New.
type rule interface {
	// name is how reports and expectations call the rule.
	name() string
	// finish judges what only the whole run can tell.
	finish(f *facts, r *Report)
	// count is how much the rule judged so far.
	count() (checks int, due bool)
}

// observer is a rule that judges while the run goes on.
type observer interface {
	// observe judges one event; the facts have taken it in before.
	observe(f *facts, e *event.Event, r *Report)
}

// selective is an observer that wants events of few kinds only; any other is
// given all of them.
type selective interface {
	kinds() []event.Kind
}

// hygienic is a rule over the history itself: its checks judge nobody.
type hygienic interface{ hygienic() }

// tally counts a rule's checks and supplies what most rules do not need.
type tally struct {
	checks int
	due    bool // there was something to judge
}

func (t *tally) count() (int, bool)     { return t.checks, t.due }
func (t *tally) finish(*facts, *Report) {}

// Checker judges a run while it goes on. Make one with New.
type Checker struct {
	facts     *facts
	rules     []rule
	observers [256][]observer // by kind of event, in the order of rules
	report    Report
}

// New returns a checker of a run that did nothing yet.
func New() *Checker {
	c := &Checker{facts: newFacts()}
	c.rules = slices.Concat(insideRules(), logRules(), txnRules(), []rule{&checkerDisagreement{}})
	c.listen()
	return c
}

// insideRules judge from inside the cluster.
func insideRules() []rule {
	return []rule{
		&logMatching{}, &leaderCompleteness{}, &hwMonotone{}, &highWatermarkRule{}, &oneLeaderPerEpoch{}, &leaderInISR{}, &metadataOrder{},
		&audit{}, &invariant{}, &alterPartitionRegister{}, &ackedBeforeCommit{}, &readBeforeCommit{}, &underReplicatedAck{}, &staleLeaderAck{},
	}
}

// logRules judge single partitions from what clients asked and were told.
func logRules() []rule {
	return []rule{
		newMalformed(), &ambiguousAttempt{},
		&lostWrite{}, &inconsistentOffsets{}, &failedWriteVisible{}, &readFromFuture{}, &realTimeInversion{}, &ackOffsetWrong{}, &phantom{},
		&corruptValue{}, &duplicate{}, &appDuplicate{}, &unexplainedGap{}, &vanishedRead{}, &unseen{}, &endOffsetRegression{}, &logStartRegression{},
		&pollSkip{}, &pollSkip{within: true}, &nonmonotonicPoll{}, &nonmonotonicPoll{within: true}, &illegalReset{},
		&producerOrder{}, &idempotenceBreak{}, &intSendSkip{}, &leaderEpochRegression{}, &readBeyondWatermark{},
		&newestLost{}, &tombstoneEarly{}, &rewritten{}, &activeHeadTouched{}, &deletionOutsidePolicy{}, &kvView{},
		&realtimeLag{}, &recovery{}, &stuckClient{},
	}
}

// listen enters each observer under the kinds that it wants.
func (c *Checker) listen() {
	for _, r := range c.rules {
		o, ok := r.(observer)
		if !ok {
			continue
		}
		wanted := event.Kinds()
		if s, few := r.(selective); few {
			wanted = s.kinds()
		}
		for _, k := range wanted {
			c.observers[k] = append(c.observers[k], o)
		}
	}
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
	for _, o := range c.observers[e.Kind] {
		o.observe(c.facts, e, &c.report)
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
		if _, hygiene := rule.(hygienic); !hygiene {
			judged += checks
		}
	}
	r.tellCounts()
	if judged == 0 {
		r.Unknown = append(r.Unknown, "vacuous: nothing in this run could be judged")
	}
	r.Unknown = append(r.Unknown, c.facts.unknown...)
	r.findCauses()
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
