package checker

import "testing"

func TestEveryRuleHasItsPromiseInTheOrderInWhichItJudges(t *testing.T) {
	promises, rules := Promises(), New().rules
	if len(promises) != len(rules) {
		t.Fatalf("%d promises, %d rules", len(promises), len(rules))
	}
	for i, r := range rules {
		if promises[i].Rule != r.name() || promises[i].Text == "" {
			t.Errorf("promise %d is of %q, the rule is %q", i, promises[i].Rule, r.name())
		}
	}
}
