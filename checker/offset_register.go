package checker

import (
	"slices"

	"github.com/anishathalye/porcupine"

	"tidemark/model/kafka"
)

// offsetRegister is a committed offset between two parts of its history.
type offsetRegister struct {
	initial kafka.Offset
	// last is the commit that wrote initial, nil for what was there before the
	// history began.
	last *offsetOp
}

// part is how many of the operations, sorted by staged, belong to the next part:
// it ends where nothing is in work and the last commit overlaps no other.
func (g *offsetRegister) part(ops []offsetOp) int {
	var end, commits uint64 // the last end of all so far, and of the commits
	lone := true            // the last commit overlaps no other
	for i := range ops {
		op := &ops[i]
		if i > 0 && end < op.staged && lone {
			return i
		}
		end = max(end, op.ret)
		if op.kind != offsetFetch {
			lone, commits = op.staged > commits, max(commits, op.ret)
		}
	}
	return len(ops)
}

// judge judges one part and goes on to its end.
func (g *offsetRegister) judge(ops []offsetOp) (bad *Finding, crowded bool) {
	switch {
	case len(ops) == 1:
		bad = g.alone(&ops[0])
	case distinct(ops, g):
		bad = zonesOf(ops, g).judge()
	case 2*len(ops) > maxSearched:
		return nil, true
	default:
		bad = g.search(ops)
	}
	for i := range ops {
		if op := &ops[i]; op.kind != offsetFetch && (g.last == nil || op.ret >= g.last.ret) {
			g.initial, g.last = op.value, op
		}
	}
	return bad, false
}

// alone judges an operation that overlaps no other.
func (g *offsetRegister) alone(op *offsetOp) *Finding {
	if op.kind != offsetFetch || op.value == g.initial {
		return nil
	}
	if g.last == nil {
		return offsetFinding(op, op.String()+", and nobody had committed that", op)
	}
	return offsetFinding(op, op.String()+" after "+g.last.String(), g.last, op)
}

// distinct reports whether each value is written once, so that each fetch tells
// which commit it saw, and no commit within a transaction overlaps another: of
// those the one that was sent last wins, whichever ends first.
func distinct(ops []offsetOp, g *offsetRegister) bool {
	seen := map[kafka.Offset]bool{g.initial: true}
	var ended, transactional uint64 // the last end of commits so far, and of those in transactions
	for i := range ops {
		op := &ops[i]
		if op.kind == offsetFetch {
			continue
		}
		if seen[op.value] || op.staged < transactional || op.kind == offsetTxnCommit && op.staged < ended {
			return false
		}
		seen[op.value] = true
		if ended = max(ended, op.ret); op.kind == offsetTxnCommit {
			transactional = max(transactional, op.ret)
		}
	}
	return true
}

// steps writes the operations for porcupine; of maps each step to its operation.
func steps(ops []*offsetOp) (input []porcupine.Operation, of []*offsetOp) {
	add := func(op *offsetOp, kind offsetStepKind, id int, call, ret uint64) {
		end := openEnded(len(of))
		if ret != never {
			end = int64(ret)
		}
		input = append(input, porcupine.Operation{Input: offsetStep{kind, op.value, id}, Call: int64(call), Return: end})
		of = append(of, op)
	}
	for i, op := range ops {
		switch op.kind {
		case offsetCommit:
			add(op, stepCommit, i, op.call, op.ret)
		case offsetFetch:
			add(op, stepFetch, i, op.call, op.ret)
		case offsetTxnCommit:
			add(op, stepStage, i, op.staged, min(op.ret, op.stagedBy))
			add(op, stepMark, i, op.call, op.ret)
		}
	}
	return input, of
}

// search lets porcupine look for an order.
func (g *offsetRegister) search(ops []offsetOp) *Finding {
	list := make([]*offsetOp, len(ops))
	for i := range ops {
		list[i] = &ops[i]
	}
	model := offsetModel(g.initial)
	input, of := steps(list)
	found := linearise(model, input)
	if found.fits {
		return nil
	}
	misfit := of[found.misfit]
	text := found.tell(len(input), func(i int) string { return of[i].String() })
	needed := g.needed(list)
	if g.last != nil {
		needed = append([]*offsetOp{g.last}, needed...)
	}
	return offsetFinding(misfit, text, needed...)
}

// maxReduced is how many operations are tried one by one for a witness.
const maxReduced = 40

// needed leaves out every operation without which the rest does not fit either.
// A commit stays as long as a fetch of its value does.
func (g *offsetRegister) needed(ops []*offsetOp) []*offsetOp {
	if len(ops) > maxReduced {
		return ops
	}
	model := offsetModel(g.initial)
	for i := len(ops) - 1; i >= 0; i-- {
		op := ops[i]
		rest := slices.Delete(slices.Clone(ops), i, i+1)
		if len(rest) == 0 || op.kind != offsetFetch && slices.ContainsFunc(rest, func(o *offsetOp) bool { return o.kind == offsetFetch && o.value == op.value }) {
			continue
		}
		if input, _ := steps(rest); !porcupine.CheckOperations(model, input) {
			ops = rest
		}
	}
	return ops
}
