package checker

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// A lock that is taken and given back at known instants: porcupine's word on
// whether one member at a time held the partition.
var lockModel = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, _ any) (bool, any) {
		who, taken := input.(lockStep).client, input.(lockStep).take
		if taken {
			return state.(string) == "", who
		}
		return state.(string) == who, ""
	},
}

type lockStep struct {
	client string
	take   bool
}

func TestOverlappingOwnersAreThoseThatNoLockAllows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 5))
	verdicts := map[bool]int{}
	for range 6000 {
		n := 2 + rnd.IntN(4)
		instants := rnd.Perm(4 * n)
		if rnd.IntN(2) == 0 {
			slices.Sort(instants) // one after the other
		}
		var holds []hold
		var ops []porcupine.Operation
		for i := range n {
			from, until := instants[2*i]+1, instants[2*i+1]+1
			from, until = min(from, until), max(from, until)
			client := fmt.Sprint("c", i)
			holds = append(holds, hold{ownership: &ownership{client: client, from: stamp{seq: uint64(from)}}, until: stamp{seq: uint64(until)}})
			ops = append(ops, porcupine.Operation{Input: lockStep{client, true}, Call: int64(from), Return: int64(from)},
				porcupine.Operation{Input: lockStep{client, false}, Call: int64(until), Return: int64(until)})
		}
		slices.SortFunc(holds, func(a, b hold) int { return cmp.Compare(a.from.seq, b.from.seq) })
		alone := len(overlaps(holds)) == 0
		verdicts[alone]++
		if locked := porcupine.CheckOperations(lockModel, ops); locked != alone {
			t.Fatalf("porcupine says %v, the sweep says %v: %+v", locked, alone, holds)
		}
	}
	if verdicts[true] < 1000 || verdicts[false] < 1000 {
		t.Errorf("verdicts %v, want 1000 of each", verdicts)
	}
}

// ownerModel is a transactional id: its state is the owner's epoch.
var ownerModel = porcupine.Model{
	Init: func() any { return kafka.ProducerEpoch(-1) },
	Step: func(state, input, _ any) (bool, any) {
		epoch, op := state.(kafka.ProducerEpoch), input.(ownerStep)
		if op.take {
			return op.epoch > epoch, op.epoch
		}
		return op.epoch == epoch, epoch
	},
}

type ownerStep struct {
	epoch kafka.ProducerEpoch
	take  bool
}

// Each InitProducerId gives the next epoch, and each owner ends one transaction.
func TestTransactionalIDRegisterAgreesWithPorcupine(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 6))
	verdicts := map[bool]int{}
	for i := range 6000 {
		events, ops := ownerHistory(rnd, 1+rnd.IntN(4))
		legal := len(found(&transactionalIDRegister{}, events)) == 0
		verdicts[legal]++
		if want := porcupine.CheckOperations(ownerModel, ops); want != legal {
			t.Fatalf("history %d: porcupine says legal %v, the rule says %v\n%s", i, want, legal, tellEvents(events))
		}
	}
	if verdicts[true] < 1000 || verdicts[false] < 1000 {
		t.Errorf("verdicts %v, want 1000 of each", verdicts)
	}
}

func ownerHistory(rnd *rand.Rand, owners int) (events []event.Event, ops []porcupine.Operation) {
	instants := rnd.Perm(4 * owners)
	for i := range owners {
		at := instants[4*i : 4*i+4]
		slices.Sort(at) // an owner ends its transaction after it became the owner
		s := event.Session{ProducerID: 7, ProducerEpoch: kafka.ProducerEpoch(i), TransactionalID: "t", Txn: uint64(i + 1), Generation: -1}
		for k, kind := range []event.Kind{event.InitProducerInvoke, event.InitProducerOK, event.TxnEndInvoke, event.TxnEndOK} {
			e := event.New(kind)
			e.Seq, e.Client, e.Attempt, e.Text = uint64(at[k]+1), fmt.Sprint("p", i), uint64(10*i+k/2+1), "commit"
			own := s
			if k < 2 {
				own.Txn = 0
			}
			e.Session = &own
			events = append(events, e)
		}
		ops = append(ops, porcupine.Operation{Input: ownerStep{s.ProducerEpoch, true}, Call: int64(at[0] + 1), Return: int64(at[1] + 1)},
			porcupine.Operation{Input: ownerStep{s.ProducerEpoch, false}, Call: int64(at[2] + 1), Return: int64(at[3] + 1)})
	}
	slices.SortFunc(events, func(a, b event.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	return events, ops
}
