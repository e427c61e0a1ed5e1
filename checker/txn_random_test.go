package checker

import (
	"slices"
	"strings"
	"testing"
)

func TestSoundTransactionsAndGroupsRaiseNoAlarm(t *testing.T) {
	checked := map[string]int{}
	for seed := range uint64(200) {
		events := runTxnWorld(seed, 1500, "")
		r := Check(events)
		for _, c := range r.Checks {
			checked[c.Rule] += c.Checks
		}
		if len(r.Findings) > 0 {
			t.Fatalf("seed %d: %s: %s\n%s", seed, r.Findings[0].Rule, r.Findings[0].Text, tellEvents(events))
		}
		for _, why := range r.Unknown {
			if !strings.HasPrefix(why, "vacuous") {
				t.Fatalf("seed %d: unknown: %s\n%s", seed, why, tellEvents(events))
			}
		}
	}
	for _, rule := range txnRules() {
		t.Logf("%s: %d", rule.name(), checked[rule.name()])
	}
}

func TestClustersThatBreakAPromiseAreCaught(t *testing.T) {
	for _, c := range []struct{ bug, rule string }{
		{"aborted records are given out", "aborted-read"},
		{"the last stable offset is ignored", "early-read"},
		{"the last stable offset is ignored", "lso-overrun"},
		{"a partition drops what was committed", "torn-transaction"},
		{"offsets of a commit are dropped", "offset-tear"},
		{"offsets of a commit are dropped", "double-processing"},
		{"offsets of an abort count", "offset-tear"},
		{"nobody is fenced", "zombie-write"},
		{"nobody is fenced", "transactional-id-register"},
		{"an epoch is given out twice", "transactional-id-register"},
		{"generations are not checked", "fenced-commit"},
		{"generations are not checked", "dual-ownership"},
		{"partitions are given away too early", "dual-ownership"},
		{"committed offsets are stale", "committed-offset-register"},
		{"members start one too far", "group-skip"},
		{"members start at the beginning", "double-processing"},
		{"members commit too much", "commit-beyond-position"},
	} {
		caught := false
		for seed := uint64(0); seed < 300 && !caught; seed++ {
			caught = slices.Contains(Check(runTxnWorld(seed, 1500, c.bug)).Broken(), c.rule)
		}
		if !caught {
			t.Errorf("%s: %s never said so", c.bug, c.rule)
		}
	}
}
