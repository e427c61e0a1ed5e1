package main

import (
	"strings"
	"testing"

	"tidemark/model/kafka"
	"tidemark/model/rules"
)

func TestAKeyOrRuleThatIsNearlyOneIsToldTheOneThatWasMeant(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "R1", "--set", "min.insync.replica=2"}, "did you mean min.insync.replicas? tidemark keys topic lists them"},
		{[]string{"run", "R1", "--set", "topic.min.insync.replica=2"}, "did you mean topic.min.insync.replicas? tidemark keys topic lists them"},
		{[]string{"run", "R1", "--set", "linger.msec=2"}, "did you mean linger.ms? tidemark keys producer lists them"},
		{[]string{"run", "R1", "--set", "consumer.isolation.levels=read_committed"}, "did you mean consumer.isolation.level? tidemark keys consumer"},
		{[]string{"sweep", "--seeds", "1..2", "--set", "min.insync.replica=2"}, "did you mean min.insync.replicas?"},
		{[]string{"run", "R1", "--set", "moon=2"}, "moon: not a configuration key that tidemark has: tidemark keys lists them"},
		{[]string{"run", "R1", "--set", "acks=7"}, "acks: 7 is not a valid value"},
		{[]string{"run", "R1", "--rules", "truncate=tohw"}, "did you mean truncate=toHW? tidemark rules lists them"},
		{[]string{"run", "R1", "--rules", "recovery=trust,truncate=toHV"}, `"truncate=toHV": did you mean truncate=toHW?`},
		{[]string{"sweep", "--seeds", "1..2", "--rules", "truncat=toHW"}, "did you mean truncate=toHW?"},
		{[]string{"run", "R1", "--rules", "moon"}, "known are cleanBound=activeSegment"},
	} {
		status, out, errText := command(t, c.args...)
		if status != exitUsage || out != "" || strings.Count(errText, "\n") != 1 || !strings.Contains(errText, c.want) {
			t.Errorf("%v: status %d, said %q, want %q", c.args, status, errText, c.want)
		}
	}
}

func TestALetterTooFewStillFindsEveryKeyAndRule(t *testing.T) {
	var names []string
	for _, scope := range scopeNames {
		for _, d := range kafka.Definitions(keyScopes[scope]) {
			names = append(names, d.Key)
		}
	}
	for _, v := range rules.Variants() {
		names = append(names, v.Name())
	}
	for _, name := range names {
		if i := nearest(strings.ToUpper(name), names); i < 0 || names[i] != name {
			t.Errorf("%s in capitals: %d", name, i)
		}
		if i := nearest(name[1:], names); i < 0 {
			t.Errorf("%s is near nothing", name[1:])
		}
	}
}
