package scenarios

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"tidemark/model/kafka"
	"tidemark/model/plan"
)

// The life of a random plan: a cluster settles, clients work while faults come
// and go, everything is healed, and what was acknowledged is read.
const (
	faultsFrom   = 3 * time.Second
	faultsUntil  = 30 * time.Second
	healAt       = 40 * time.Second
	settleWithin = 90 * time.Second
)

// Random expands a seed into a plan: a small cluster, one topic, one or two
// producers, a reader, and one to five faults, all of them mended at the end.
// One seed gives one plan on every machine.
func Random(seed uint64) *plan.Plan {
	g := &generator{pcg: rand.NewPCG(seed, 0x7469646d61726b), down: map[kafka.BrokerID]time.Duration{}}
	drawn := g.plan(seed)
	// Read back from its text, a plan has the line numbers that a user sees.
	p, err := plan.Parse(drawn.Name, drawn.String())
	if err != nil {
		panic("the random plan is not valid: " + err.Error())
	}
	return p
}

// generator draws a plan. Zero stands for the calm choice in every draw.
type generator struct {
	pcg     *rand.PCG
	brokers int
	p       *plan.Plan
	// down tells until when a broker is busy with a fault that stops it.
	down map[kafka.BrokerID]time.Duration
}

// n draws a number from 0 to limit-1.
func (g *generator) n(limit int) int { return int(g.pcg.Uint64() % uint64(limit)) }

func (g *generator) chance(percent int) bool { return g.n(100) >= 100-percent }

// between draws an instant in whole milliseconds.
func (g *generator) between(low, high time.Duration) time.Duration {
	return low + time.Duration(g.n(int((high-low)/time.Millisecond)))*time.Millisecond
}

func (g *generator) plan(seed uint64) *plan.Plan {
	g.brokers = 3
	g.p = &plan.Plan{Name: fmt.Sprintf("seed-%d", seed), Seed: seed, HasSeed: true,
		Cluster: plan.Cluster{Brokers: g.brokers, Controllers: 1, DataLanes: 1 + g.n(3)}}
	g.p.Prose = []string{fmt.Sprintf("The random plan of seed %d.", seed)}
	g.set("min.insync.replicas", fmt.Sprint(2-g.n(2)))
	g.set("replica.lag.time.max.ms", fmt.Sprint([]int{30000, 10000, 4000}[g.n(3)]))
	g.workload()
	for range 1 + g.n(5) {
		g.fault()
	}
	slices.SortStableFunc(g.p.Steps, func(a, b plan.Step) int { return int(a.At - b.At) })
	g.mend()
	return g.p
}

func (g *generator) set(key, value string) {
	g.p.Settings = append(g.p.Settings, plan.Setting{Key: key, Value: value})
}

func (g *generator) add(s plan.Step) { g.p.Steps = append(g.p.Steps, s) }

const topic = "t"

func (g *generator) workload() {
	partitions := int32(1 + g.n(3))
	g.add(plan.Step{At: -1, Verb: plan.VerbTopic, Topic: topic, Partitions: partitions, Replicas: int16(g.brokers)})
	g.add(plan.Step{At: -1, Verb: plan.VerbConsumer, Client: "reader"})
	g.add(plan.Step{At: -1, Verb: plan.VerbConsumer, Client: "auditor"})
	for i := range 1 + g.n(2) {
		name := fmt.Sprintf("p%d", i+1)
		acks := []string{"all", "all", "1"}[g.n(3)]
		g.add(plan.Step{At: -1, Verb: plan.VerbProducer, Client: name, Settings: []plan.Setting{
			{Key: "acks", Value: acks}, {Key: "linger.ms", Value: fmt.Sprint(g.n(3) * 5)}}})
		every := g.between(20*time.Millisecond, 200*time.Millisecond)
		count := int((faultsUntil + 5*time.Second) / every)
		g.add(plan.Step{At: -1, Verb: plan.VerbWrite, Client: name, Topic: topic, Partition: -1, Count: count, Every: every})
	}
	g.add(plan.Step{At: -1, Verb: plan.VerbRead, Client: "reader", Topic: topic, Partition: -1, From: "earliest"})
}

func (g *generator) broker() kafka.BrokerID { return kafka.BrokerID(1 + g.n(g.brokers)) }

// fault draws one fault and what ends it.
func (g *generator) fault() {
	at := g.between(faultsFrom, faultsUntil)
	end := at + g.between(100*time.Millisecond, 14*time.Second)
	switch g.n(8) {
	case 0:
		g.add(plan.Step{At: at, Verb: plan.VerbStall, Node: g.broker(), For: g.between(100*time.Millisecond, 12*time.Second)})
	case 1, 2:
		g.cut(at, end)
	case 3:
		a, b := g.pair()
		g.add(plan.Step{At: at, Verb: plan.VerbReset, Node: a, Peer: b, Both: true})
	case 4:
		g.add(plan.Step{At: at, Verb: plan.VerbHold, API: "fetch", Response: g.chance(50), Node: 1, Peer: 2})
		g.add(plan.Step{At: end, Verb: plan.VerbRelease, Node: 1, Peer: 2})
	default:
		g.outage(at, end)
	}
}

func (g *generator) pair() (kafka.BrokerID, kafka.BrokerID) {
	a := g.broker()
	b := kafka.BrokerID(1 + (int(a)+g.n(g.brokers-1))%g.brokers)
	return a, b
}

func (g *generator) cut(at, end time.Duration) {
	a, b := g.pair()
	if g.chance(25) {
		b = plan.FirstController
	}
	both := g.chance(60)
	g.add(plan.Step{At: at, Verb: plan.VerbCut, Node: a, Peer: b, Both: both})
	g.add(plan.Step{At: end, Verb: plan.VerbHeal, Node: a, Peer: b, Both: both})
}

// outage takes one broker away for a while, unless it is away already.
func (g *generator) outage(at, end time.Duration) {
	b := g.broker()
	if _, busy := g.down[b]; busy {
		return
	}
	g.down[b] = end
	s := plan.Step{At: at, Node: b}
	back := plan.VerbStart
	switch g.n(5) {
	case 0, 1:
		s.Verb = plan.VerbKill
	case 2:
		s.Verb, s.Lose = plan.VerbPower, "random"
	case 3:
		s.Verb, back = plan.VerbPause, plan.VerbResume
	case 4:
		s.Verb, s.Lane, s.Op, s.Kind = plan.VerbCrash, "data-0", 1+g.n(40), "kill"
	}
	g.add(s)
	g.add(plan.Step{At: end, Verb: back, Node: b})
}

// mend heals everything, waits until the cluster is whole and reads it.
func (g *generator) mend() {
	g.add(plan.Step{At: -1, Verb: plan.VerbSleep, For: healAt})
	g.add(plan.Step{At: -1, Verb: plan.VerbHeal, Node: kafka.NoBroker, Peer: kafka.NoBroker})
	g.add(plan.Step{At: -1, Verb: plan.VerbRelease, Node: kafka.NoBroker, Peer: kafka.NoBroker})
	var all []kafka.BrokerID
	for b := kafka.BrokerID(1); int(b) <= g.brokers; b++ {
		all = append(all, b)
		// A crash may have struck after the start that was to mend it.
		g.add(plan.Step{At: -1, Verb: plan.VerbStart, Node: b})
	}
	for part := range g.p.Steps[0].Partitions {
		g.add(plan.Step{At: -1, Verb: plan.VerbWait, For: settleWithin,
			Predicate: plan.Predicate{Subject: plan.WaitISR, Topic: topic, Partition: part, ISR: all}})
	}
	g.add(plan.Step{At: -1, Verb: plan.VerbVerify, Client: "auditor", Topic: topic, Partition: -1})
}
