package scenarios_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tidemark/checker"
	"tidemark/model/plan"
	"tidemark/scenarios"
)

// This file is the pattern for properties of your own: draw a plan, run it,
// judge the report, and print the plan if it fails. What is printed is a scenario
// file, for tidemark run and for the bug report.

// drawDraft draws a plan. Every first choice is the calm one.
func drawDraft(t *rapid.T) scenarios.Draft {
	return scenarios.Draft{
		MinISR:    rapid.SampledFrom([]int{2, 1}).Draw(t, "min.insync.replicas"),
		DataLanes: rapid.IntRange(1, 2).Draw(t, "data lanes"),
		Moves:     rapid.SliceOfN(rapid.SampledFrom(scenarios.Moves()), 0, 10).Draw(t, "moves"),
		Mend:      rapid.Bool().Draw(t, "mend"),
	}
}

// judged remembers the report of every plan that was run. A shrinker tries
// thousands of ways to draw, and they give a few hundred plans.
type judged map[string]checker.Report

// checkDurability runs a plan and fails if a committed record was lost. Each rule
// fails at a line of its own: rapid takes failures at one line for one failure,
// and would otherwise shrink a loss into something else.
func (j judged) checkDurability(t *rapid.T, p *plan.Plan, rules string) {
	text := p.String()
	report, known := j[text]
	if !known {
		r, err := scenarios.Run(p, scenarios.Options{Seed: p.Seed, Rules: rules})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		report = r.Report
		j[text] = report
	}
	broken := report.Broken()
	switch {
	case slices.Contains(broken, "LeaderCompleteness"):
		t.Fatalf("a leader lacks a committed record:\n%s", text)
	case slices.Contains(broken, "LogMatching"):
		t.Fatalf("two replicas differ below their high watermarks:\n%s", text)
	case slices.Contains(broken, "lost-write"):
		t.Fatalf("an acknowledged record is lost:\n%s", text)
	}
}

// With acks=all and only clean elections, no plan of stops, deaths, pauses, cuts
// and late messages loses a committed record.
func TestDrawnPlansLoseNothingThatWasCommitted(t *testing.T) {
	setFlag(t, "rapid.checks", "500")
	plans := judged{}
	rapid.Check(t, func(t *rapid.T) { plans.checkDurability(t, drawDraft(t).Plan(), "") })
	elected := 0
	for _, report := range plans { // unordered: a count
		for _, c := range report.Checks {
			if c.Rule == "LeaderCompleteness" && c.Checks > 0 {
				elected++
			}
		}
	}
	if elected < 50 {
		t.Errorf("of %d plans only %d elected a leader after something was committed", len(plans), elected)
	}
}

func TestFirstMoveDoesNothing(t *testing.T) {
	calm, empty := scenarios.Draft{Moves: scenarios.Moves()[:1]}.Plan(), scenarios.Draft{}.Plan()
	if calm.String() != empty.String() {
		t.Errorf("got\n%s\nwant\n%s", calm, empty)
	}
}

// The calmest plan that has a record in it is what a property shrinks towards.
func ExampleDraft() {
	p := scenarios.Draft{Moves: scenarios.Moves()[:2], Mend: true}.Plan()
	r, err := scenarios.Run(p, scenarios.Options{Seed: p.Seed})
	if err != nil {
		panic(err)
	}
	fmt.Print(p)
	fmt.Println(r.Report.Verdict)
	// Output:
	// seed 1
	// cluster brokers=3 controllers=1 lanes=1
	// set min.insync.replicas=2
	// topic t assignment=1,2,3
	// producer p acks=all linger.ms=0
	// send p t m1
	// wait acked p = 1 within 24s
	// wait isr t-0 = 1,2,3 within 1m30s
	// consumer c
	// verify c t
	// pass
}

// Under the rule that Kafka gave up with KIP-101 the same property fails, and
// what is left of the plan is short enough to read.
func TestPropertyShrinksTheLossOfKIP101ToATwelveStepScenario(t *testing.T) {
	const rules, most = "truncate=toHW", 12
	setFlag(t, "rapid.seed", "1") // the search is not the promise, and must not fail by chance
	setFlag(t, "rapid.checks", "3000")
	setFlag(t, "rapid.nofailfile", "true")
	plans := judged{}
	draws := 0
	var last string // rapid runs the smallest failing plan last
	found := &witness{name: t.Name()}
	rapid.Check(found, func(t *rapid.T) {
		p := drawDraft(t).Plan()
		last = p.String()
		draws++
		plans.checkDurability(t, p, rules)
	})
	if !found.failed {
		t.Fatalf("%d draws and no loss", draws)
	}
	t.Logf("%d draws, %d plans; %s", draws, len(plans), found.said.String())
	if !strings.Contains(found.said.String(), last) {
		t.Errorf("the failure does not print the plan; it says\n%s", found.said.String())
	}

	p, err := plan.Parse("drawn.txt", last)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Steps) > most {
		t.Errorf("%d steps are left, want %d at most", len(p.Steps), most)
	}
	for rules, want := range map[string]bool{rules: true, "": false} { // unordered: two runs that do not meet
		r, err := scenarios.Run(p, scenarios.Options{Seed: p.Seed, Rules: rules})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(r.Report.Broken(), "LeaderCompleteness"); got != want {
			t.Errorf("rules %q: broken %v", rules, r.Report.Broken())
		}
	}
}

// witness takes the place of a *testing.T for a property that must fail.
type witness struct {
	rapid.TB
	name   string
	failed bool
	said   strings.Builder
}

func (w *witness) Helper()      {}
func (w *witness) Name() string { return w.name }
func (w *witness) Failed() bool { return w.failed }
func (w *witness) FailNow()     { w.failed = true }
func (w *witness) Logf(format string, args ...any) {
	fmt.Fprintf(&w.said, format+"\n", args...)
}
func (w *witness) Errorf(format string, args ...any) {
	w.failed = true
	w.Logf(format, args...)
}

// setFlag sets one of rapid's flags for the time of a test.
func setFlag(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	before := f.Value.String()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := flag.Set(name, before); err != nil {
			t.Fatal(err)
		}
	})
}
