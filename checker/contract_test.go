package checker

import (
	"maps"
	"slices"
	"testing"

	"tidemark/model/kafka"
)

func TestEveryClauseIsOfARuleAndGivesItsReason(t *testing.T) {
	var rules []string
	for _, r := range New().rules {
		rules = append(rules, r.name())
	}
	for _, table := range [][]clause{contract, txnContract} {
		for i, c := range table {
			if !slices.Contains(rules, c.rule) {
				t.Errorf("%s: no such rule", c.rule)
			}
			if c.why == "" {
				t.Errorf("%s: clause %d has no reason", c.rule, i)
			}
			// The clauses of a rule stand together, or one could be overlooked.
			if i > 0 && table[i-1].rule != c.rule && slices.ContainsFunc(table[:i-1], func(o clause) bool { return o.rule == c.rule }) {
				t.Errorf("%s: its clauses do not stand together", c.rule)
			}
		}
	}
}

func TestEveryErrorHasOneCertaintyAndItsReason(t *testing.T) {
	seen := map[kafka.ErrorCode]bool{}
	for _, e := range errorTable {
		if seen[e.code] || e.why == "" {
			t.Errorf("%v: listed twice or without a reason", e.code)
		}
		seen[e.code] = true
	}
	for _, c := range []kafka.ErrorCode{kafka.NotEnoughReplicasAfterAppend, kafka.RequestTimedOut, kafka.NotLeaderOrFollower, kafka.NetworkException,
		kafka.UnknownServerError, kafka.ErrorCode(9999)} {
		if certaintyOf(c) != indefinite {
			t.Errorf("%v proves that nothing was written", c)
		}
	}
}

func TestNoFindingExplainsItself(t *testing.T) {
	by := map[string][]string{}
	for _, table := range [][]explanation{explains, explainsTxn} {
		for _, e := range table {
			by[e.rule] = append(by[e.rule], e.by...)
		}
	}
	var follow func(rule string, path []string)
	follow = func(rule string, path []string) {
		if slices.Contains(path, rule) {
			t.Fatalf("%s explains itself: %v", rule, path)
		}
		for _, cause := range by[rule] {
			follow(cause, append(slices.Clip(path), rule))
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(by)) {
		follow(rule, nil)
	}
}
