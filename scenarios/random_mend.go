package scenarios

import (
	"slices"

	"tidemark/model/kafka"
	"tidemark/model/plan"
)

// mend ends every fault, waits until the cluster is whole and reads it.
func (g *generator) mend() {
	g.next(plan.Step{Verb: plan.VerbSleep, For: mendAt})
	for _, verb := range []plan.Verb{plan.VerbHeal, plan.VerbRelease} {
		g.next(plan.Step{Verb: verb, Node: kafka.NoBroker, Peer: kafka.NoBroker})
	}
	g.electUncleanly()
	for _, t := range g.topics {
		for part, replicas := range t.Assignment {
			isr := slices.Sorted(slices.Values(replicas))
			g.next(plan.Step{Verb: plan.VerbWait, For: settleWithin,
				Predicate: plan.Predicate{Subject: plan.WaitISR, Topic: t.Topic, Partition: int32(part), ISR: isr}})
		}
	}
	g.next(plan.Step{Verb: plan.VerbSleep, For: drainFor})
	for _, t := range g.topics {
		g.next(plan.Step{Verb: plan.VerbVerify, Client: auditor, Topic: t.Topic, Partition: -1})
	}
}

// electUncleanly is what an operator does about partitions whose last in-sync
// replica was on a disk that had to be replaced: none of the others may lead, and
// what that one alone had is gone. Kafka refuses it where there is a leader.
func (g *generator) electUncleanly() {
	if !g.diskReplaced {
		return
	}
	g.next(plan.Step{Verb: plan.VerbSleep, For: backWithin})
	for _, t := range g.topics {
		for part := range t.Assignment {
			g.next(plan.Step{Verb: plan.VerbElect, Topic: t.Topic, Partition: int32(part), Kind: "unclean"})
		}
	}
}

// next adds a step that comes after the one before it.
func (g *generator) next(s plan.Step) {
	s.At = -1
	g.add(s)
}
