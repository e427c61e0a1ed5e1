package checker

import (
	"cmp"
	"slices"
)

// Where clocks may err, or several events share an instant, the order of a history is
// one of many, and an order of commits and fetches that fits has to be looked for among
// all that the clocks leave open. So each operation is made as long as it may have been:
// it is called as early, and ends as late, as its clock allows, and whatever then still
// comes after another one does so for certain.

// edge is one end of an operation: where it is kept, and when it may have been.
type edge struct {
	number *uint64
	at     int64 // ns: the earliest a call, the latest an end may have been
	ends   bool
	seq    uint64
}

// widened are operations with their calls and ends numbered anew: one number is below
// another only if the clocks leave no doubt, or the two overlap anyway. The end of an
// operation of unknown outcome and of a transaction's offset is open.
func (f *facts) widened(ops []offsetOp) []offsetOp {
	wide := slices.Clone(ops)
	edges := make([]edge, 0, 4*len(wide))
	for i := range wide {
		op := &wide[i]
		call := func(number *uint64, s stamp) {
			edges = append(edges, edge{number, s.at - f.clocks.at(s.seq), false, s.seq})
		}
		end := func(number *uint64, s stamp) {
			if *number = never; s.came() {
				edges = append(edges, edge{number, s.at + f.clocks.at(s.seq), true, s.seq})
			}
		}
		call(&op.call, op.calledAt)
		call(&op.staged, op.stagedAt)
		end(&op.ret, op.endedAt)
		if op.kind == offsetTxnCommit {
			end(&op.stagedBy, op.commit.done)
		}
	}
	slices.SortStableFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		if a.ends != b.ends && b.ends {
			return -1
		} else if a.ends != b.ends {
			return 1
		}
		return cmp.Compare(a.seq, b.seq)
	})
	for i, e := range edges {
		*e.number = uint64(i + 1)
	}
	slices.SortStableFunc(wide, func(a, b offsetOp) int { return cmp.Compare(a.staged, b.staged) })
	return wide
}
