package scenarios

import (
	"time"

	"tidemark/model/plan"
)

// incident adds, to some plans, several faults that belong together: chance
// alone hardly ever lines them up.
func (g *generator) incident() {
	at := g.between(faultsFrom, faultsUntil-10*time.Second)
	switch kind := g.n(100); {
	case kind < 68:
	case kind < 82:
		g.cascade(at)
	case kind < 88:
		g.rollingRestart(at)
	case kind < 92:
		g.blackout(at)
	default:
		g.crowd(at)
	}
}

// cascade takes two brokers away one after the other while two of them cannot
// reach each other: the second one may have just become leader, and nobody may
// have heard of it.
func (g *generator) cascade(at time.Duration) {
	if g.brokers < 3 {
		return
	}
	ids := g.brokerIDs()
	end := at + 10*time.Second
	g.cutLink(linkEnd{node: ids[1]}, linkEnd{node: ids[2]}, true, at, end)
	first := at + g.between(0, 2*time.Second)
	second := first + g.between(0, pick(g, time.Second, 8*time.Second))
	if g.reserve(ids[0], first, end) {
		g.restart(plan.Step{Verb: pick(g, plan.VerbStop, plan.VerbKill), Node: ids[0]}, first, end)
	}
	if g.reserve(ids[1], second, end) {
		g.restart(plan.Step{Verb: plan.VerbKill, Node: ids[1]}, second, end)
	}
}

// rollingRestart stops one broker after the other, as an upgrade does.
func (g *generator) rollingRestart(at time.Duration) {
	for _, id := range g.brokerIDs() {
		end := at + g.between(500*time.Millisecond, 3*time.Second)
		if g.reserve(id, at, end) {
			g.restart(plan.Step{Verb: plan.VerbStop, Node: id}, at, end)
		}
		at = end + g.between(0, time.Second)
	}
}

// blackout cuts the power of all brokers at once, or nearly.
func (g *generator) blackout(at time.Duration) {
	for _, id := range g.brokerIDs() {
		off := at + g.between(0, 20*time.Millisecond)
		on := off + g.between(time.Second, 8*time.Second)
		if g.reserve(id, off, on) {
			g.restart(plan.Step{Verb: plan.VerbPower, Node: id, Lose: pick(g, "all", "random")}, off, on)
		}
	}
}

// crowd strikes two brokers within milliseconds.
func (g *generator) crowd(at time.Duration) {
	for _, id := range g.brokerIDs()[:min(2, g.brokers)] {
		from := at + g.between(0, 30*time.Millisecond)
		to := from + g.duration()
		if g.reserve(id, from, to) {
			g.restart(plan.Step{Verb: pick(g, plan.VerbKill, plan.VerbStop), Node: id}, from, to)
		}
	}
}
