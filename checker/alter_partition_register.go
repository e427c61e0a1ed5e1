package checker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// alterPartitionRegister: AlterPartition is a compare-and-set on the leader
// epoch, the partition epoch and the ISR (KIP-497). Leaders propose on what they
// know, the controller elects and shrinks on its own account, metadata tells
// everybody late, and still all of it fits one order, which porcupine looks for:
//
//	leader      |─── propose ISR 1,2 on partition epoch 5 ──────── answer ──|
//	controller           commits partition epoch 6 ──●
//	leader                     |── propose on 5 ─────────────── refused ──|
//
// A proposal without an outcome counts only if the controller committed it. What
// a controller did last before it died is in no trace, so its death ends the
// register, and what follows begins from a state that is not known. A register
// with more than maxSearched operations is not judged.
type alterPartitionRegister struct {
	tally
	registers   map[kafka.TopicPartition]*register
	order       []*register
	controllers []kafka.BrokerID // that committed anything
	broken      []Finding
}

// register is the operations on one partition since the last death of a
// controller.
type register struct {
	tp        kafka.TopicPartition
	ops       []porcupine.Operation
	proposals []proposal
	last      kafka.PartitionEpoch
	// first is the first partition epoch that the controller committed, -1 for none.
	first kafka.PartitionEpoch
}

type proposal struct {
	seq    uint64
	leader kafka.BrokerID
	was    registerState // the epochs that it is made on; no ISR
	isr    string
	// settled: an operation stands for its outcome.
	settled bool
}

const noPartitionEpoch kafka.PartitionEpoch = -1

func (*alterPartitionRegister) name() string { return "alter-partition-register" }

func (*alterPartitionRegister) kinds() []event.Kind {
	return []event.Kind{event.Died, event.Elected, event.ISRChanged, event.ISRProposed, event.ISRApplied, event.AlterPartitionRefused, event.BecameLeader}
}

func (a *alterPartitionRegister) observe(f *facts, e *event.Event, _ *Report) {
	switch e.Kind {
	case event.Died:
		if slices.Contains(a.controllers, e.Node) {
			for _, g := range a.order {
				a.judge(g)
				g.ops, g.first, g.last = nil, noPartitionEpoch, noPartitionEpoch
			}
		}
	case event.Elected, event.ISRChanged, event.ISRProposed, event.ISRApplied, event.AlterPartitionRefused, event.BecameLeader:
		if e.PartitionEpoch != noPartitionEpoch {
			a.register(e.TP()).observe(e)
		}
		if committed := e.Kind == event.Elected || e.Kind == event.ISRChanged; committed && !slices.Contains(a.controllers, e.Node) {
			a.controllers = append(a.controllers, e.Node)
		}
	}
}

func (a *alterPartitionRegister) register(tp kafka.TopicPartition) *register {
	g := a.registers[tp]
	if g == nil {
		if a.registers == nil {
			a.registers = map[kafka.TopicPartition]*register{}
		}
		g = &register{tp: tp, first: noPartitionEpoch, last: noPartitionEpoch}
		a.registers[tp] = g
		a.order = append(a.order, g)
	}
	return g
}

func (a *alterPartitionRegister) finish(_ *facts, r *Report) {
	for _, g := range a.order {
		a.judge(g)
	}
	r.Findings = append(r.Findings, a.broken...)
}

// judge looks for an order of what is there. A register on which the controller
// committed nothing has no state to compare with.
func (a *alterPartitionRegister) judge(g *register) {
	if g.first == noPartitionEpoch || len(g.ops) > maxSearched {
		return
	}
	a.checks += len(g.ops)
	found := linearise(registerModel(g.first), g.ops)
	if found.fits {
		return
	}
	misfit := g.ops[found.misfit].Input.(registerOp)
	a.broken = append(a.broken, Finding{Rule: a.name(), Verdict: Violation, Seq: misfit.seq, At: misfit.at, Witness: []uint64{misfit.seq}, TP: g.tp, Offset: kafka.NoOffset, Last: kafka.NoOffset,
		Node: misfit.node, Epoch: misfit.state.leader,
		Text: fmt.Sprintf("%s: its ISR did not change by compare-and-set: %s", g.tp,
			found.tell(len(g.ops), func(i int) string { return g.ops[i].Input.(registerOp).String() }))})
}

// observe turns an event into operations.
func (g *register) observe(e *event.Event) {
	state := registerState{true, e.Epoch, e.PartitionEpoch, isrText(e.ISR)}
	op := registerOp{seq: e.Seq, at: e.At, node: e.Node, state: state}
	switch e.Kind {
	case event.Elected, event.ISRChanged:
		g.committed(op)
	case event.ISRProposed:
		g.proposals = append(g.proposals, proposal{e.Seq, e.Node, registerState{leader: e.Epoch, partition: e.PartitionEpoch}, state.isr, false})
	case event.ISRApplied:
		if p := g.pending(e.Node, e.Epoch); p != nil && e.Text == "answer" {
			g.answered(p, op)
			return
		}
		g.add(opRead, op, 0)
	case event.BecameLeader:
		g.add(opRead, op, 0)
	case event.AlterPartitionRefused:
		op.node, op.code = e.Peer, e.Code
		g.add(opRefused, op, g.proposedAt(e))
	}
}

// committed takes a commit of the controller in: what a proposal asked for, or
// its own decision.
func (g *register) committed(op registerOp) {
	if g.first == noPartitionEpoch {
		g.first = op.state.partition
	}
	op.was.partition, g.last = g.last, op.state.partition
	for i := len(g.proposals) - 1; i >= 0; i-- {
		p := &g.proposals[i]
		if !p.settled && p.isr == op.state.isr && p.was.leader == op.state.leader && p.was.partition+1 == op.state.partition {
			p.settled = true
			op.node, op.was = p.leader, p.was
			g.add(opSet, op, p.seq)
			return
		}
	}
	g.add(opWrite, op, 0)
}

// answered takes the success of a proposal in.
func (g *register) answered(p *proposal, op registerOp) {
	if p.settled || op.state.partition == p.was.partition { // or it asked for what was there
		g.add(opRead, op, p.seq)
		return
	}
	p.settled = true
	op.was, op.asked = p.was, p.isr
	g.add(opSet, op, p.seq)
}

// pending is the proposal that a leader waits for: its last one. nil for none.
func (g *register) pending(leader kafka.BrokerID, epoch kafka.LeaderEpoch) *proposal {
	for i := len(g.proposals) - 1; i >= 0; i-- {
		if p := &g.proposals[i]; p.leader == leader && p.was.leader == epoch {
			return p
		}
	}
	return nil
}

// proposedAt is the event of the proposal that was refused, 0 if it is not
// known. Its outcome stays open: it may have been sent twice.
func (g *register) proposedAt(e *event.Event) uint64 {
	for i := range g.proposals {
		if p := &g.proposals[i]; p.leader == e.Peer && p.was.leader == e.Epoch && p.was.partition == e.PartitionEpoch {
			return p.seq
		}
	}
	return 0
}

func (g *register) add(kind registerKind, op registerOp, call uint64) {
	op.kind = kind
	g.ops = append(g.ops, porcupine.Operation{Input: op, Call: int64(call), Return: int64(op.seq)})
}

// isrText writes an ISR as a set.
func isrText(isr []kafka.BrokerID) string {
	var b strings.Builder
	for i, id := range slices.Sorted(slices.Values(isr)) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, id)
	}
	return b.String()
}
