package checker

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// porcupine searches for an order of concurrent operations that a sequential
// model allows: linearisability (Herlihy and Wing, 1990). It decides what has no
// order of its own, and gives a second opinion on what has one.
//
// Three habits keep it exact here. Instants are event numbers, because many
// events share a simulated time, and porcupine takes equal instants for
// concurrent. An operation without an end ends after the last event, because
// porcupine calls a history without a return illegal. And no search has a time
// limit, which would let the machine decide the verdict: the input is bounded,
// and each model lets at most one operation change its state at a time, so that
// the states are few whatever the verdict.

// maxSearched is how many operations of a partition porcupine is given at most.
const maxSearched = 300

// openEnded is the end of the i-th operation that has none.
func openEnded(i int) int64 { return math.MaxInt64 - maxSearched + int64(i) }

// attempted is the outcome of a search.
type attempted struct {
	fits bool
	// Where nothing fits: a longest order that does, and the operation that had
	// to come next, by their places in the input.
	order  []int
	misfit int
}

// linearise searches for an order of the operations, of which there must be one
// or more.
func linearise(m porcupine.Model, ops []porcupine.Operation) attempted {
	if porcupine.CheckOperations(m, ops) {
		return attempted{fits: true}
	}
	_, info := porcupine.CheckOperationsVerbose(m, ops, 0)
	best := attempted{}
	for _, order := range info.PartialLinearizations()[0] {
		// Partial orders come in no order: of the longest ones, take the least.
		if len(order) > len(best.order) || len(order) == len(best.order) && slices.Compare(order, best.order) < 0 {
			best.order = order
		}
	}
	best.misfit = -1
	for i := range ops {
		if !slices.Contains(best.order, i) && (best.misfit < 0 || ops[i].Return < ops[best.misfit].Return) {
			best.misfit = i
		}
	}
	return best
}

// shownOperations is how many operations of a partial order are written out.
const shownOperations = 4

// tell writes the partial order down, by the names of its operations.
func (a *attempted) tell(of int, name func(i int) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "porcupine can order %d of %s", len(a.order), count(of, "operation"))
	if n := len(a.order); n > 0 {
		b.WriteString(" (")
		if n > shownOperations {
			b.WriteString("... ")
		}
		for i, op := range a.order[max(0, n-shownOperations):] {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(name(op))
		}
		b.WriteString(")")
	}
	fmt.Fprintf(&b, "; then %s does not fit", name(a.misfit))
	return b.String()
}
