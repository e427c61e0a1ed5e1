package scenarios

import (
	"fmt"
	"time"

	"tidemark/model/kafka"
	"tidemark/model/plan"
)

const controller = plan.FirstController

// faults are what can go wrong, each as often as it stands here.
var faults = []func(g *generator, at, end time.Duration){
	(*generator).outage, (*generator).outage, (*generator).outage, (*generator).outage, (*generator).outage,
	(*generator).outage, (*generator).outage,
	(*generator).controllerOutage,
	(*generator).cut, (*generator).cut, (*generator).cut,
	(*generator).hold, (*generator).hold,
	(*generator).reset,
	(*generator).halfOpen,
	(*generator).stall,
	(*generator).clockJump,
	(*generator).elect,
}

// fault draws one fault, when it begins and what ends it.
func (g *generator) fault() {
	at := g.between(faultsFrom, faultsUntil)
	pick(g, faults...)(g, at, at+g.duration())
}

// duration draws how long a fault lasts: half of them are shorter than what
// Kafka takes notice of.
func (g *generator) duration() time.Duration {
	if g.chance(50) {
		return g.between(100*time.Millisecond, 2*time.Second)
	}
	return g.between(2*time.Second, mendAt-faultsUntil-time.Second)
}

func (g *generator) at(t time.Duration, s plan.Step) {
	s.At = t
	g.add(s)
}

// reserve reports whether a node is free of other outages for a time, and takes
// that time.
func (g *generator) reserve(id kafka.BrokerID, at, end time.Duration) bool {
	for _, s := range g.away[id] {
		if at < s.to && s.from < end {
			return false
		}
	}
	g.away[id] = append(g.away[id], span{at, end})
	return true
}

// outage takes one broker away for a while.
func (g *generator) outage(at, end time.Duration) {
	id := g.broker()
	if !g.reserve(id, at, end) {
		return
	}
	switch pick(g, plan.VerbPause, plan.VerbStop, plan.VerbKill, plan.VerbPower, plan.VerbPower, plan.VerbCrash, plan.VerbCrash) {
	case plan.VerbPause:
		g.at(at, plan.Step{Verb: plan.VerbPause, Node: id})
		g.at(end, plan.Step{Verb: plan.VerbResume, Node: id})
	case plan.VerbStop:
		g.restart(plan.Step{Verb: plan.VerbStop, Node: id}, at, end)
	case plan.VerbKill:
		g.restart(plan.Step{Verb: plan.VerbKill, Node: id}, at, end)
	case plan.VerbPower:
		g.restart(plan.Step{Verb: plan.VerbPower, Node: id, Lose: pick(g, "random", "random", "all", "none")}, at, end)
	case plan.VerbCrash:
		lane := fmt.Sprintf("data-%d", g.n(g.p.Cluster.DataLanes))
		g.crash(id, pick(g, lane, lane, lane, "router", "lifecycle", "quorum", "logs"), at, end)
	}
}

func (g *generator) restart(s plan.Step, at, end time.Duration) {
	g.at(at, s)
	g.at(end, plan.Step{Verb: plan.VerbStart, Node: s.Node})
}

// crash ends a process between two operations of one lane. A lane that did not
// get that far until the end is killed there, so that nothing is left armed.
func (g *generator) crash(id kafka.BrokerID, lane string, at, end time.Duration) {
	g.at(at, plan.Step{Verb: plan.VerbCrash, Node: id, Lane: lane, Op: 1 + g.n(60), Kind: pick(g, "kill", "power")})
	g.restart(plan.Step{Verb: plan.VerbKill, Node: id}, end-time.Millisecond, end)
}

func (g *generator) controllerOutage(at, end time.Duration) {
	if !g.reserve(controller, at, end) {
		return
	}
	switch g.n(5) {
	case 0:
		g.at(at, plan.Step{Verb: plan.VerbPause, Node: controller})
		g.at(end, plan.Step{Verb: plan.VerbResume, Node: controller})
	case 1:
		g.restart(plan.Step{Verb: plan.VerbKill, Node: controller}, at, end)
	case 2:
		g.restart(plan.Step{Verb: plan.VerbPower, Node: controller, Lose: "random"}, at, end)
	case 3:
		g.crash(controller, "quorum", at, end)
	case 4:
		g.at(at, plan.Step{Verb: plan.VerbStall, Node: controller, For: end - at})
	}
}

// linkEnd names an end of a link.
type linkEnd struct {
	node   kafka.BrokerID
	client string
}

// link draws two ends that talk: two brokers, a broker and the controller, a
// client and a broker.
func (g *generator) link() (a, b linkEnd) {
	ids := g.brokerIDs()
	a = linkEnd{node: ids[0]}
	switch kind := g.n(10); {
	case kind < 6 && g.brokers > 1:
		b.node = ids[1+g.n(g.brokers-1)]
	case kind < 8:
		b.node = controller
	default:
		b = a
		a = linkEnd{kafka.NoBroker, pick(g, g.clients...)}
	}
	if g.chance(50) {
		a, b = b, a
	}
	return a, b
}

// onLink is a step of a link. A client's end has no node.
func onLink(verb plan.Verb, a, b linkEnd) plan.Step {
	return plan.Step{Verb: verb, Node: a.node, FromClient: a.client, Peer: b.node, ToClient: b.client}
}

func (g *generator) cut(at, end time.Duration) {
	a, b := g.link()
	g.cutLink(a, b, g.chance(60), at, end)
}

func (g *generator) cutLink(a, b linkEnd, both bool, at, end time.Duration) {
	s := onLink(plan.VerbCut, a, b)
	s.Both = both
	g.at(at, s)
	s.Verb = plan.VerbHeal
	g.at(end, s)
}

func (g *generator) reset(at, _ time.Duration) {
	a, b := g.link()
	s := onLink(plan.VerbReset, a, b)
	s.Both = true
	g.at(at, s)
}

func (g *generator) halfOpen(at, _ time.Duration) {
	a, b := g.link()
	g.at(at, onLink(plan.VerbHalfOpen, a, b))
}

// hold keeps one message of an API that the link carries.
func (g *generator) hold(at, end time.Duration) {
	a, b := g.link()
	response := g.chance(50)
	asker, server := a, b
	if response {
		asker, server = b, a
	}
	s := onLink(plan.VerbHold, a, b)
	s.Response = response
	switch {
	case asker.client != "":
		s.API = pick(g, "produce", "produce", "fetch", "metadata")
		if asker.client[0] == 'c' {
			s.API = "fetch"
		}
	case server.node == controller:
		s.API = pick(g, "alterpartition", "brokerheartbeat", "fetch")
	default:
		s.API = "fetch"
	}
	g.at(at, s)
	g.at(end, onLink(plan.VerbRelease, a, b))
}

func (g *generator) stall(at, _ time.Duration) {
	g.at(at, plan.Step{Verb: plan.VerbStall, Node: g.broker(), For: g.duration()})
}

// clockJump moves a wall clock by a little, or by more than brokers let a
// record's time stamp be ahead of theirs.
func (g *generator) clockJump(at, _ time.Duration) {
	by := pick(g, time.Second, 10*time.Minute, 2*time.Hour)
	g.at(at, plan.Step{Verb: plan.VerbClock, Node: g.broker(), For: pick(g, by, -by)})
}

func (g *generator) elect(at, _ time.Duration) {
	t := pick(g, g.topics...)
	g.at(at, plan.Step{Verb: plan.VerbElect, Topic: t.Topic, Partition: int32(g.n(int(t.Partitions))), Kind: "preferred"})
}
