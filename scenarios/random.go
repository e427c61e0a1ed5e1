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
// and go, everything is mended, and what was acknowledged is read.
//
//	0s      3s                       30s       40s   ISR full + 5s
//	├ topics ┼ faults begin ──────────┤ they end ┤ mend ──────┤ verify
//	└ clients write ───────────────────────── 36s ┘
const (
	faultsFrom   = 3 * time.Second
	faultsUntil  = 30 * time.Second
	writeUntil   = 36 * time.Second
	mendAt       = 40 * time.Second
	settleWithin = 90 * time.Second
	// drainFor lets the sends that waited for the cluster get their answers, so
	// that the last read judges them.
	drainFor = 5 * time.Second
	// backWithin is how long the brokers take at most to be unfenced again.
	backWithin = 10 * time.Second
)

// Random expands a seed into a plan: a small cluster with drawn settings, one or
// two topics, producers and consumers, a few faults at random instants, in some
// plans an incident of several faults at once, all of them mended at the end.
// One seed gives one plan on every machine.
func Random(seed uint64) *plan.Plan {
	g := &generator{pcg: rand.NewPCG(seed, 0x7469646d61726b), away: map[kafka.BrokerID][]span{}}
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
	topics  []plan.Step
	clients []string
	// away tells when a node is busy with a fault that stops it.
	away map[kafka.BrokerID][]span
	// diskReplaced tells that a broker comes back with an empty disk.
	diskReplaced bool
}

// span is a time from its first instant to before its last.
type span struct{ from, to time.Duration }

// n draws a number from 0 to limit-1.
func (g *generator) n(limit int) int { return int(g.pcg.Uint64() % uint64(limit)) }

func (g *generator) chance(percent int) bool { return g.n(100) >= 100-percent }

// between draws an instant in whole milliseconds.
func (g *generator) between(low, high time.Duration) time.Duration {
	return low + time.Duration(g.n(int((high-low)/time.Millisecond)))*time.Millisecond
}

// pick draws one of a few values; a value that stands twice is twice as likely.
func pick[T any](g *generator, values ...T) T { return values[g.n(len(values))] }

func (g *generator) plan(seed uint64) *plan.Plan {
	g.brokers = pick(g, 3, 3, 3, 3, 3, 3, 2, 4, 5, 1)
	g.p = &plan.Plan{Name: fmt.Sprintf("seed-%d", seed), Seed: seed, HasSeed: true,
		Cluster: plan.Cluster{Brokers: g.brokers, Controllers: 1, DataLanes: 1 + g.n(3)}}
	g.p.Prose = []string{fmt.Sprintf("The random plan of seed %d.", seed)}
	g.settings()
	g.workload()
	for range 1 + g.n(5) {
		g.fault()
	}
	g.incident()
	g.breakDisk(seed)
	slices.SortStableFunc(g.p.Steps, func(a, b plan.Step) int { return int(a.At - b.At) })
	g.spareMarkers()
	g.mend()
	return g.p
}

// settings draws the brokers' configuration. A value that is Kafka's default is
// left out.
func (g *generator) settings() {
	replicas := min(g.brokers, 3)
	if n := 1 + g.n(replicas); replicas == 3 && n == 3 {
		g.set(kafka.MinInsyncReplicas, 2) // 3 of 3 stops writes at the first fault
	} else if n > 1 {
		g.set(kafka.MinInsyncReplicas, n)
	}
	g.drawn(kafka.ReplicaLagTimeMaxMs, 30000, 10000, 4000)
	g.drawn(kafka.BrokerSessionTimeoutMs, 9000, 9000, 6000)
	g.drawn("log.segment.bytes", 1<<30, 1<<30, 40000, 20000) // a full batch fits
	g.drawn(kafka.LeaderImbalanceCheckSec, 300, 300, 10)
	g.drawn("log.flush.interval.messages", 0, 0, 0, 0, 0, 0, 0, 1)
	if g.chance(3) {
		g.p.Settings = append(g.p.Settings, plan.Setting{Key: kafka.UncleanLeaderElection, Value: "true"})
	}
}

// drawn sets a key to one of the values; the first stands for the default.
func (g *generator) drawn(key string, values ...int) {
	if v := pick(g, values...); v != values[0] {
		g.set(key, v)
	}
}

func (g *generator) set(key string, value int) {
	g.p.Settings = append(g.p.Settings, plan.Setting{Key: key, Value: fmt.Sprint(value)})
}

func (g *generator) add(s plan.Step) { g.p.Steps = append(g.p.Steps, s) }

func (g *generator) broker() kafka.BrokerID { return kafka.BrokerID(1 + g.n(g.brokers)) }

// brokerIDs are the ids of all brokers, the drawn one first and the others
// behind it in a circle.
func (g *generator) brokerIDs() []kafka.BrokerID {
	first := g.n(g.brokers)
	ids := make([]kafka.BrokerID, g.brokers)
	for i := range ids {
		ids[i] = kafka.BrokerID(1 + (first+i)%g.brokers)
	}
	return ids
}
