package checker

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// registerHistory is a random history of one group and one partition. Calls and
// ends take all event numbers in random order, so every overlap occurs.
type registerHistory struct {
	rnd    *rand.Rand
	events []event.Event
}

func (h *registerHistory) emit(seq uint64, k event.Kind, attempt uint64, offset kafka.Offset, text string, txn uint64) {
	e := event.New(k)
	e.Seq, e.At, e.Client, e.Topic, e.Attempt, e.Offset, e.Text = seq, int64(seq), fmt.Sprintf("c%d", attempt), "t", attempt, offset, text
	s := event.NewSession()
	s.Group = "g"
	if s.Txn = txn; txn != 0 {
		s.TransactionalID = fmt.Sprint("t", txn)
	}
	e.Session = &s
	h.events = append(h.events, e)
}

// newRegisterHistory has n operations on values up to `values`.
func newRegisterHistory(rnd *rand.Rand, n, values int) []event.Event {
	h := registerHistory{rnd: rnd}
	order := rnd.Perm(4 * n)
	for i := range n {
		at := order[4*i : 4*i+4]
		slices.Sort(at)
		seq := func(k int) uint64 { return uint64(at[k] + 1) }
		id, value := uint64(i+1), kafka.Offset(rnd.IntN(values))
		switch rnd.IntN(8) {
		case 0, 1, 2:
			h.emit(seq(0), event.FetchCommittedInvoke, id, -1, "", 0)
			h.emit(seq(1), event.FetchCommittedOK, id, value-kafka.Offset(rnd.IntN(2)), "", 0)
		case 3:
			end := []event.Kind{event.TxnEndOK, event.TxnEndOK, event.TxnEndUnknown, event.TxnEndFail}[rnd.IntN(4)]
			h.emit(seq(0), event.CommitInvoke, id, value, "", id)
			h.emit(seq(1), event.CommitOK, id, value, "", id)
			h.emit(seq(2), event.TxnEndInvoke, id, -1, "commit", id)
			h.emit(seq(3), end, id, -1, "commit", id)
		default:
			h.emit(seq(0), event.CommitInvoke, id, value, "", 0)
			if end := []event.Kind{event.CommitOK, event.CommitOK, event.CommitUnknown, event.CommitFail, 0}[rnd.IntN(5)]; end != 0 {
				h.emit(seq(1), end, id, value, "", 0)
			}
		}
	}
	slices.SortFunc(h.events, func(a, b event.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	return h.events
}

// bruteStep is an operation for the search through all orders.
type bruteStep struct {
	kind      offsetStepKind
	value     kafka.Offset
	call, ret uint64
	optional  bool
	staged    int // of a mark: its stage
}

// bruteSteps reads them off the events, on its own.
func bruteSteps(events []event.Event) (steps []bruteStep, initial kafka.Offset) {
	type txn struct{ stage, mark int }
	open, txns := map[uint64]int{}, map[uint64]txn{}
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case event.CommitInvoke, event.FetchCommittedInvoke:
			s := bruteStep{kind: stepCommit, value: e.Offset, call: e.Seq, ret: never, optional: true}
			if e.Kind == event.FetchCommittedInvoke {
				s.kind = stepFetch
			}
			if e.Session.Txn != 0 {
				s.kind = stepStage
				txns[e.Session.Txn] = txn{len(steps), -1}
			}
			open[e.Attempt] = len(steps)
			steps = append(steps, s)
		case event.CommitOK, event.FetchCommittedOK:
			s := &steps[open[e.Attempt]]
			s.ret, s.optional = e.Seq, false
			if e.Kind == event.FetchCommittedOK {
				s.value = e.Offset
			}
		case event.CommitFail:
			steps[open[e.Attempt]].kind = 99
		case event.TxnEndInvoke:
			x := txns[e.Session.Txn]
			x.mark = len(steps)
			txns[e.Session.Txn] = x
			steps = append(steps, bruteStep{kind: stepMark, value: steps[x.stage].value, call: e.Seq, ret: never, optional: true, staged: x.stage})
		case event.TxnEndOK:
			steps[txns[e.Session.Txn].mark].optional = false
		case event.TxnEndFail:
			x := txns[e.Session.Txn]
			steps[x.stage].kind, steps[x.mark].kind = 99, 99
		}
	}
	// A stable fetch after a committed transaction has waited for its marker.
	for i := range steps {
		m := &steps[i]
		if m.kind != stepMark || m.optional {
			continue
		}
		for _, f := range steps {
			if f.kind == stepFetch && f.call > max(steps[m.staged].ret, m.call) {
				m.ret = min(m.ret, f.ret)
			}
		}
	}
	return steps, bruteInitial(steps)
}

// bruteInitial is the value of the first fetch that nothing had written.
func bruteInitial(steps []bruteStep) kafka.Offset {
	for _, f := range steps {
		if f.kind == stepFetch && !slices.ContainsFunc(steps, func(w bruteStep) bool {
			return (w.kind == stepCommit || w.kind == stepMark) && w.value == f.value && w.call < f.ret
		}) {
			return f.value
		}
	}
	return kafka.NoOffset
}

// bruteForce tries every order, and every choice of what never took place.
func bruteForce(steps []bruteStep, placed uint, value kafka.Offset, staged []int) bool {
	if !slices.ContainsFunc(number(steps), func(i int) bool {
		return placed&(1<<i) == 0 && steps[i].kind != 99 && !steps[i].optional && steps[i].ret != never
	}) {
		return true
	}
	for i, s := range steps {
		if placed&(1<<i) != 0 || s.kind == 99 || tooEarly(steps, placed, i) {
			continue
		}
		v, waiting := value, staged
		switch s.kind {
		case stepCommit:
			v, waiting = s.value, nil
		case stepStage:
			waiting = append(slices.Clone(staged), i)
		case stepMark:
			if placed&(1<<s.staged) == 0 {
				continue
			}
			if k := slices.Index(staged, s.staged); k >= 0 {
				v, waiting = s.value, staged[k+1:]
			}
		case stepFetch:
			if s.value != value {
				continue
			}
		}
		if bruteForce(steps, placed|1<<i, v, waiting) {
			return true
		}
	}
	return false
}

func number(steps []bruteStep) []int {
	n := make([]int, len(steps))
	for i := range n {
		n[i] = i
	}
	return n
}

// tooEarly: something that ended before step i was called is not placed.
func tooEarly(steps []bruteStep, placed uint, i int) bool {
	for k, o := range steps {
		if k != i && placed&(1<<k) == 0 && o.kind != 99 && o.ret < steps[i].call {
			return true
		}
	}
	return false
}

func TestCommittedOffsetRegisterAgreesWithEveryOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 1))
	legal, illegal := 0, 0
	for i := range *offsetHistories {
		events := newRegisterHistory(rnd, 2+i%5, 4)
		steps, initial := bruteSteps(events)
		want := bruteForce(steps, 0, initial, nil)
		if got := len(found(&committedOffsetRegister{}, events)) == 0; got != want {
			t.Fatalf("history %d: the rule says legal %v, all orders say %v\n%s", i, got, want, tellEvents(events))
		}
		if want {
			legal++
		} else {
			illegal++
		}
	}
	if legal < 2000 || illegal < 2000 {
		t.Errorf("%d legal and %d illegal histories, want 2000 of each", legal, illegal)
	}
}

// found is what one rule finds in a history.
func found(r rule, events []event.Event) []Finding {
	f, report := newFacts(), &Report{}
	for i := range events {
		f.observe(&events[i])
		if o, ok := r.(observer); ok {
			o.observe(f, &events[i], report)
		}
	}
	r.finish(f, report)
	return report.Findings
}

func tellEvents(events []event.Event) (s string) {
	for i := range events {
		s += string(event.AppendJSON(nil, &events[i])) + "\n"
	}
	return s
}

// Each value is written once, so zones and porcupine both decide.
func TestZonesAgreeWithPorcupine(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 2))
	legal, illegal := 0, 0
	for i := range 8000 {
		n := 2 + i%12
		ops := randomRegisterOps(rnd, n)
		g := offsetRegister{initial: kafka.NoOffset}
		zones, search := zonesOf(ops, &g).judge() == nil, g.search(ops) == nil
		if zones != search {
			t.Fatalf("history %d: zones say legal %v, porcupine %v\n%v", i, zones, search, ops)
		}
		if zones {
			legal++
		} else {
			illegal++
		}
	}
	if legal < 2000 || illegal < 2000 {
		t.Errorf("%d legal and %d illegal histories, want 2000 of each", legal, illegal)
	}
}

// randomRegisterOps are commits of 0, 1, 2 ... and fetches of any of these.
func randomRegisterOps(rnd *rand.Rand, n int) []offsetOp {
	order := rnd.Perm(2 * n)
	ops := make([]offsetOp, 0, n)
	commits := 1 + rnd.IntN(n)
	for i := range n {
		call, ret := order[2*i], order[2*i+1]
		op := offsetOp{value: kafka.Offset(i), call: uint64(min(call, ret) + 1), ret: uint64(max(call, ret) + 1)}
		if i >= commits {
			op.kind, op.value = offsetFetch, kafka.Offset(rnd.IntN(commits+1)-1)
		}
		op.staged = op.call
		ops = append(ops, op)
	}
	slices.SortFunc(ops, func(a, b offsetOp) int { return cmp.Compare(a.staged, b.staged) })
	return ops
}
