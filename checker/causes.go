package checker

import (
	"cmp"
	"slices"

	"tidemark/model/kafka"
)

// One fault shows in many ways: a leader without a committed record makes a
// lost write, two values at one offset, and readers that pass over it. A finding
// that another explains is secondary; it stands behind the one that explains it.

// explanation is a rule whose findings may be secondary, and the rules that
// explain them.
type explanation struct {
	rule string
	by   []string
}

// explains lists, for each rule whose findings may be secondary, the rules that
// explain them, best first: where a finding of one of these concerns an offset of
// the same partition, or nobody knows which offset of it, it is the cause.
var explains = []explanation{
	{"HWMonotone", []string{"LeaderCompleteness"}},
	{"inconsistent-offsets", []string{"rewritten", "lost-write", "vanished-read"}},
	{"vanished-read", []string{"lost-write"}},
	{"poll-skip", []string{"lost-write", "newest-lost", "vanished-read", "failed-write-visible"}},
	{"int-poll-skip", []string{"rewritten", "newest-lost", "lost-write", "vanished-read", "failed-write-visible"}},
	{"unexplained-gap", []string{"lost-write", "vanished-read", "torn-transaction"}},
	{"lost-write", []string{"rewritten", "newest-lost"}},
	{"kv-view", []string{"newest-lost", "tombstone-early", "lost-write", "vanished-read", "poll-skip", "int-poll-skip", "rewritten"}},
	{"active-head-touched", []string{"newest-lost", "tombstone-early"}},
	{"duplicate", []string{"rewritten"}},
	{"corrupt-value", []string{"rewritten"}},
	{"ack-offset-wrong", []string{"rewritten"}},
	{"stale-leader-ack", []string{"acked-before-commit"}},
	{"illegal-reset", []string{"lost-write"}},
}

// ruleAt is a rule in a partition.
type ruleAt struct {
	rule string
	tp   kafka.TopicPartition
}

// findCauses marks secondary findings and puts all in order: by the event of the
// first cause, each cause before what it explains.
func (r *Report) findCauses() {
	byRule := map[ruleAt][]int{}
	for i := range r.Findings {
		at := ruleAt{r.Findings[i].Rule, r.Findings[i].TP}
		byRule[at] = append(byRule[at], i)
	}
	cause := make([]int, len(r.Findings)) // its place, or its own
	for i := range cause {
		cause[i] = i
		cause[i] = r.causeOf(i, byRule)
	}
	order := make([]int, len(r.Findings))
	for i := range order {
		order[i] = i
		x := &r.Findings[i]
		if x.Secondary = cause[i] != i; x.Secondary {
			x.Cause = r.Findings[cause[i]].Rule
		}
	}
	root := func(i int) int {
		for cause[i] != i {
			i = cause[i]
		}
		return i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b, x, y := &r.Findings[root(i)], &r.Findings[root(j)], &r.Findings[i], &r.Findings[j]
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Offset, b.Offset), cmp.Compare(root(i), root(j)),
			compareBool(x.Secondary, y.Secondary), cmp.Compare(x.Seq, y.Seq), cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Offset, y.Offset))
	})
	sorted := make([]Finding, len(r.Findings))
	for i, k := range order {
		sorted[i] = r.Findings[k]
	}
	r.Findings = sorted
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// causeOf is the place of the finding that explains another one, its own place
// if none does. Rules come in an order without cycles: what explains is itself
// explained only by what stands behind it here.
func (r *Report) causeOf(i int, byRule map[ruleAt][]int) int {
	x := &r.Findings[i]
	for _, table := range [][]explanation{explains, explainsTxn} {
		for _, e := range table {
			if e.rule != x.Rule {
				continue
			}
			for _, rule := range e.by {
				for _, k := range byRule[ruleAt{rule, x.TP}] {
					if y := &r.Findings[k]; (y.Offset == kafka.NoOffset || y.Offset <= x.Last && x.Offset <= y.Last) && y.Verdict == x.Verdict {
						return k
					}
				}
			}
		}
	}
	return i
}
