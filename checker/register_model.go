package checker

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"tidemark/model/kafka"
)

// registerState is what a partition's register holds. It is not known before
// the first commit of a controller's life.
type registerState struct {
	known     bool
	leader    kafka.LeaderEpoch
	partition kafka.PartitionEpoch
	isr       string // sorted
}

type registerKind uint8

const (
	// opWrite: the controller went from partition epoch was to state, by its
	// own decision.
	opWrite registerKind = iota
	// opSet: a proposal made on the epochs of was led to state.
	opSet
	// opRead: a leader was told state, however late.
	opRead
	// opRefused: a proposal made on the epochs of state was refused with code.
	opRefused
)

// registerOp is one operation on the register.
type registerOp struct {
	kind       registerKind
	seq        uint64
	at         int64 // ns
	node       kafka.BrokerID
	was, state registerState
	asked      string // the ISR that a proposal asked for, if its answer tells
	code       kafka.ErrorCode
}

// registerModel is the register of a partition whose first known state has the
// partition epoch first. Every commit has its own partition epoch, which gives
// the order of the writes; what is left to find is where the answers fit.
func registerModel(first kafka.PartitionEpoch) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return registerState{} },
		Step: func(state, input, _ any) (bool, any) {
			return input.(registerOp).step(state.(registerState), first)
		},
	}
}

func (op registerOp) step(s registerState, first kafka.PartitionEpoch) (bool, registerState) {
	switch op.kind {
	case opWrite:
		fits := op.state.partition == first
		if s.known {
			fits = op.was.partition == s.partition && op.state.partition > s.partition && op.state.leader >= s.leader
		}
		return fits, op.state
	case opSet:
		fits := op.state.partition <= first
		if s.known {
			fits = op.was.partition == s.partition && op.was.leader == s.leader
		}
		return fits && op.kept(), op.state
	case opRead:
		return s == op.state || !s.known && op.state.partition < first, s
	}
	return !s.known || op.refusable(s), s
}

// kept reports whether a proposal was answered with what it asked for.
func (op *registerOp) kept() bool {
	return op.state.partition == op.was.partition+1 && op.state.leader == op.was.leader && (op.asked == "" || op.asked == op.state.isr)
}

// refusable reports whether the register gives a reason for a refusal. Codes
// that do not speak of its state are fine anywhere.
func (op *registerOp) refusable(s registerState) bool {
	switch op.code {
	case kafka.FencedLeaderEpoch:
		return s.leader > op.state.leader
	case kafka.InvalidUpdateVersion:
		return s.partition > op.state.partition
	case kafka.IneligibleReplica:
		return s.partition == op.state.partition && s.leader == op.state.leader
	}
	return true
}

// String names the operation in a sentence.
func (op registerOp) String() string {
	switch op.kind {
	case opWrite:
		return fmt.Sprintf("the controller's commit of ISR %s as partition epoch %d in leader epoch %d (event %d)", op.state.isr, op.state.partition, op.state.leader, op.seq)
	case opSet:
		return fmt.Sprintf("broker %d's proposal on partition epoch %d, which became ISR %s as partition epoch %d (event %d)",
			op.node, op.was.partition, op.state.isr, op.state.partition, op.seq)
	case opRead:
		return fmt.Sprintf("broker %d's knowledge of ISR %s as partition epoch %d (event %d)", op.node, op.state.isr, op.state.partition, op.seq)
	}
	return fmt.Sprintf("the refusal of broker %d's proposal on partition epoch %d with %s (event %d)", op.node, op.state.partition, op.code, op.seq)
}
