package checker_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/checker"
	"tidemark/model/kafka"
)

// account judges a history and returns what became of each offset of x-0.
func account(t *testing.T, text string) checker.Gaps {
	t.Helper()
	r := checker.Check(parseCase(t, t.Name(), text+"\n----\n").events)
	if len(r.Gaps) != 1 {
		t.Fatalf("%d partitions, want one%s", len(r.Gaps), explain(r))
	}
	g := r.Gaps[0]
	g.TP = kafka.TopicPartition{}
	return g
}

func TestEveryOffsetThatWasPassedOverIsInOneClass(t *testing.T) {
	for _, c := range []struct {
		name, history string
		want          checker.Gaps
	}{
		{"a marker behind a transaction", `
			1-2 A send x a txn=1 -> ok@0
			3-4 A send x b -> ok@2
			5-6 c poll x -> 0=a 2=b drained`, checker.Gaps{Data: 2, Markers: 1}},
		{"a marker that the history keeps", `
			1-2 A send x a txn=1 -> ok@0
			3-4 A send x b -> ok@2
			5-6 c poll x -> 0=a 1=!commit 2=b drained`, checker.Gaps{Data: 2, Markers: 1}},
		{"two holes and one marker for them", `
			1-2 A send x a txn=1 -> ok@0
			3-4 A send x b -> ok@3
			5-6 c poll x -> 0=a 3=b drained`, checker.Gaps{Data: 2, Markers: 1, Unexplained: 1}},
		{"a marker does not lie below its transaction", `
			1-2 B send x b -> ok@0
			3-4 A send x a txn=1 -> ok@2
			5-6 c poll x -> 0=b 2=a drained`, checker.Gaps{Data: 2, Unexplained: 1}},
		{"a record of a transaction that was not committed", `
			1-2 A send x a txn=1 -> ok@0
			3-4 A send x b -> ok@2
			5-6 c poll x iso=rc from=0 -> 2=b drained`, checker.Gaps{Data: 1, Aborted: 1, Markers: 1}},
		{"below the log start", `
			1-2 A send x b -> ok@2
			3 *log-start x 2 retention
			5-6 c poll x from=0 -> 2=b drained`, checker.Gaps{Data: 1, BelowStart: 2}},
		{"a record below the log start", `
			1-2 A send x a -> ok@0
			3-4 A send x b -> ok@1
			5-6 c poll x -> 0=a 1=b
			7 *log-start x 1 retention
			8-9 d poll x from=0 -> 1=b drained`, checker.Gaps{Data: 1, BelowStart: 1}},
		{"a record whose key was written again", `
			profile topic x: cleanup.policy=compact
			1-2 A send x k=a -> ok@0
			3-4 A send x k=b -> ok@1
			5 *cleaned x 1
			6-7 c poll x from=0 -> 1=k=b drained`, checker.Gaps{Data: 1, Compacted: 1}},
		{"compacted away", `
			profile topic x: cleanup.policy=compact
			1-2 A send x b -> ok@2
			3 *cleaned x 1
			5-6 c poll x from=0 -> 2=b drained`, checker.Gaps{Data: 1, Compacted: 1, Unexplained: 1}},
		{"lost", `
			1-2 A send x a -> ok@0
			3-4 A send x b -> ok@1
			5-6 c poll x from=0 -> 1=b drained`, checker.Gaps{Data: 1, Lost: 1}},
		{"of a lineage that ended", `
			1-2 A send x a -> ok@0
			3 *elected x 2 e2 isr=2 unclean
			4-5 A send x b -> ok@1
			6-7 c poll x from=0 -> 1=b drained`, checker.Gaps{Data: 1, Truncated: 1}},
		{"sent after the lineage ended", `
			1 *elected x 2 e2 isr=2 unclean
			2-3 A send x a -> ok@0
			4-5 A send x b -> ok@1
			6-7 c poll x from=0 -> 1=b drained`, checker.Gaps{Data: 1, Lost: 1}},
		{"passed over before the lineage ended", `
			1-2 A send x a -> ok@0
			3-4 A send x b -> ok@1
			5-6 c poll x from=0 -> 1=b drained
			7 *elected x 2 e2 isr=2 unclean`, checker.Gaps{Data: 1, Lost: 1}},
		{"of producers that are not shown", `
			world open
			1-2 A send x a -> ok@0
			3-4 A send x b -> ok@4
			5-6 c poll x -> 0=a 4=b drained`, checker.Gaps{Data: 2, Foreign: 3}},
		{"two readers pass over one hole", `
			1-2 A send x a -> ok@0
			3-4 A send x b -> ok@2
			5-6 c poll x -> 0=a 2=b drained
			7-8 d poll x -> 0=a 2=b drained`, checker.Gaps{Data: 2, Unexplained: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, account(t, c.history)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLossComesWithTheLedgerOfItsPremises(t *testing.T) {
	for how, want := range map[string]string{ // unordered: each on its own
		"clean":   "held: no unclean election",
		"unclean": "broken: no unclean election",
	} {
		r := checker.Check(parseCase(t, "ledger", `
			1 *elected x 1 e1 isr=1,2 create
			2-3 A send x a -> ok@0
			4 *elected x 2 e2 isr=2 `+how+`
			5-6 c poll x to=1 -> - drained
----
`).events)
		for _, x := range r.Findings {
			if x.Rule == "lost-write" && (len(x.Ledger) != 3 || !strings.HasPrefix(x.Ledger[0], want) || !strings.HasPrefix(x.Ledger[1], "not shown: ")) {
				t.Errorf("%s: %q", how, x.Ledger)
			}
		}
		if len(r.Findings) == 0 {
			t.Errorf("%s: nothing found%s", how, explain(r))
		}
	}
}

// A million losses are found as fast as one; the report lists some and counts
// the rest.
func TestBrokenHistoryIsToldInParts(t *testing.T) {
	k := checker.New()
	crowd{operations: 20_000, partitions: 2, producers: 5, consumers: 2, broken: true}.observe(k)
	r := k.Report()
	listed, noted := 0, false
	for _, x := range r.Findings {
		if x.Rule == "lost-write" {
			listed++
		}
	}
	for _, n := range r.Notes {
		noted = noted || n.Rule == "lost-write" && strings.Contains(n.Text, "more like those listed")
	}
	if listed != 128 || !noted {
		t.Errorf("%d losses listed, the rest counted: %v", listed, noted)
	}
}

func TestRepeatNamesBothOffsets(t *testing.T) {
	r := checker.Check(parseCase(t, "repeat", `
		1-4 A send x a -> ok@1
		5-6 r poll x -> 0=a 1=a drained
----
`).events)
	if len(r.Findings) != 1 || r.Findings[0].Offset != 1 || !strings.Contains(r.Findings[0].Text, "lies at offset 0 too") {
		t.Errorf("the repeat at offset 1 of the record at offset 0 is not told%s", explain(r))
	}
}
