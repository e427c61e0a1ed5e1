package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"tidemark/model/kafka"
	"tidemark/model/plan"
)

// Draft is a plan that a property draws: a small cluster with one partition of
// three replicas, and moves. Draw each field with a generator of your own
// property-testing library and run Plan under it:
//
//	func TestMyTopicLosesNothing(t *testing.T) {
//		rapid.Check(t, func(t *rapid.T) {
//			d := scenarios.Draft{
//				MinISR: rapid.SampledFrom([]int{2, 1}).Draw(t, "min.insync.replicas"),
//				Moves:  rapid.SliceOfN(rapid.SampledFrom(scenarios.Moves()), 0, 10).Draw(t, "moves"),
//			}
//			p := d.Plan()
//			r, err := scenarios.Run(p, scenarios.Options{Seed: p.Seed})
//			if err != nil {
//				t.Fatal(err)
//			}
//			if slices.Contains(r.Report.Broken(), "lost-write") {
//				t.Fatalf("an acknowledged record is lost:\n%s", p)
//			}
//		})
//	}
//
// A property must not draw the seed of a run: from a seed a shrinker learns
// nothing, while it can take moves out of a list. The zero Draft is the calmest
// plan, and the first move does nothing, so that less always means calmer. What
// fails is printed as a scenario file, which stays valid when the moves change.
// A shrinker draws the same few hundred plans thousands of times: remember what
// each led to, as property_test.go does.
type Draft struct {
	MinISR    int // min.insync.replicas; 0 stands for 2
	DataLanes int // of each broker; 0 stands for 1
	Moves     []Move
	// Mend ends the plan with a cluster that is whole and a read of everything.
	Mend bool
}

// Move is a few steps that belong together, such as the death of the leader and
// the time until another one is elected. It speaks of the leader and of those
// who are next in line, so that any list of moves makes sense.
type Move struct {
	name string
	play func(*table)
}

// GoString names the move, for the log of a property.
func (m Move) GoString() string { return strconv.Quote(m.name) }

const (
	drawnTopic    = "t"
	drawnProducer = "p"
	drawnConsumer = "c"
	drawnBrokers  = 3
	// drawnSeed is the seed of every drawn plan, so that its file says all.
	drawnSeed = 1
	// failover is longer than a session and what an election takes.
	failover = 12 * time.Second
)

var drawnPartition = kafka.TopicPartition{Topic: drawnTopic}

// Moves are the moves to draw from, the calm ones first. Some stand there more
// than once: what breaks a promise is often a record and two deaths.
func Moves() []Move {
	send := Move{"send", (*table).send}
	leaderDies := Move{"leader dies", func(t *table) { t.down(plan.VerbKill, t.inLine(0)) }}
	followersCut := Move{"followers cut", func(t *table) { t.cut(t.inLine(1), t.inLine(2)) }}
	return []Move{
		{"nothing", func(*table) {}},
		send, send, send,
		{"a moment", func(t *table) { t.sleep(200 * time.Millisecond) }},
		{"a while", func(t *table) { t.sleep(failover) }},
		{"preferred leader", (*table).prefer},
		{"leader stops", func(t *table) { t.down(plan.VerbStop, t.inLine(0)) }},
		leaderDies, leaderDies, leaderDies,
		{"heir dies", func(t *table) { t.down(plan.VerbKill, t.inLine(1)) }},
		{"all start", (*table).startAll},
		{"leader pauses", (*table).pauseLeader},
		{"leader alone", func(t *table) { t.cut(t.inLine(0), plan.FirstController) }},
		{"leader cut off heir", func(t *table) { t.cut(t.inLine(0), t.inLine(1)) }},
		followersCut, followersCut,
		{"heal", func(t *table) { t.everywhere(plan.VerbHeal) }},
		{"heir hears nothing", func(t *table) { t.hold(t.inLine(0), t.inLine(1)) }},
		{"release", func(t *table) { t.everywhere(plan.VerbRelease) }},
	}
}

// Plan is the plan of the draft, with the lines that a user sees.
func (d Draft) Plan() *plan.Plan {
	minISR, lanes := max(d.MinISR, 1), max(d.DataLanes, 1)
	if d.MinISR == 0 {
		minISR = 2
	}
	t := &table{minISR: minISR, plan: plan.Plan{Name: "drawn", Seed: drawnSeed, HasSeed: true, Cluster: plan.Cluster{Brokers: drawnBrokers, Controllers: 1, DataLanes: lanes},
		Settings: []plan.Setting{{Key: "min.insync.replicas", Value: fmt.Sprint(minISR)}}}}
	for id := range drawnBrokers {
		t.line = append(t.line, kafka.BrokerID(id+1))
	}
	t.all = slices.Clone(t.line)
	t.add(plan.Step{Verb: plan.VerbTopic, Topic: drawnTopic, Partitions: 1, Assignment: [][]kafka.BrokerID{t.all}})
	t.add(plan.Step{Verb: plan.VerbProducer, Client: drawnProducer, Settings: []plan.Setting{{Key: "acks", Value: "all"}, {Key: "linger.ms", Value: "0"}}})
	for _, m := range d.Moves {
		m.play(t)
	}
	if d.Mend {
		t.mend()
	}
	p, err := plan.Parse(t.plan.Name, t.plan.String())
	if err != nil {
		panic("a drawn plan is not valid: " + err.Error())
	}
	return p
}

// table is the plan so far and what it should have led to, as far as moves need
// to know: whom the controller would elect, one after the other.
type table struct {
	plan plan.Plan
	all  []kafka.BrokerID
	line []kafka.BrokerID // who is up, the leader first
	sent int
	// Fewer than minISR in line take no record.
	minISR int
	// cutOff, held: there is something to mend.
	cutOff, held bool
}

func (t *table) add(s plan.Step) {
	s.At = -1
	t.plan.Steps = append(t.plan.Steps, s)
}

// inLine is the leader, or who comes after it; NoBroker if nobody does.
func (t *table) inLine(n int) kafka.BrokerID {
	if n >= len(t.line) {
		return kafka.NoBroker
	}
	return t.line[n]
}

// send sends one record and waits until it is acknowledged, if enough are up.
func (t *table) send() {
	t.sent++
	t.add(plan.Step{Verb: plan.VerbSend, Client: drawnProducer, Topic: drawnTopic, Partition: -1, Value: fmt.Sprintf("m%d", t.sent)})
	if len(t.line) < t.minISR {
		return
	}
	t.add(plan.Step{Verb: plan.VerbWait, For: 2 * failover,
		Predicate: plan.Predicate{Subject: plan.WaitAcked, Client: drawnProducer, Value: int64(t.sent)}})
}

func (t *table) sleep(d time.Duration) { t.add(plan.Step{Verb: plan.VerbSleep, For: d}) }

// prefer moves leadership to the first replica of the assignment, if it is up.
func (t *table) prefer() {
	t.add(plan.Step{Verb: plan.VerbElect, Topic: drawnTopic, Partition: 0, Kind: "preferred"})
	t.sleep(100 * time.Millisecond)
	if i := slices.Index(t.line, t.all[0]); i > 0 {
		t.line = append([]kafka.BrokerID{t.all[0]}, slices.Delete(t.line, i, i+1)...)
	}
}

// down takes a broker away, unless it is the last one. After the leader another
// one must be elected.
func (t *table) down(verb plan.Verb, b kafka.BrokerID) {
	i := slices.Index(t.line, b)
	if i < 0 || len(t.line) == 1 {
		return
	}
	t.add(plan.Step{Verb: verb, Node: b})
	t.line = slices.Delete(t.line, i, i+1)
	if i == 0 {
		t.sleep(failover)
	}
}

// startAll starts who is down; they queue up behind the others.
func (t *table) startAll() {
	for _, b := range t.all {
		if !slices.Contains(t.line, b) {
			t.add(plan.Step{Verb: plan.VerbStart, Node: b})
			t.line = append(t.line, b)
		}
	}
}

// pauseLeader stops the leader's process for longer than its session, so that it
// wakes up as a leader that was replaced.
func (t *table) pauseLeader() {
	b := t.inLine(0)
	if b == kafka.NoBroker {
		return
	}
	t.add(plan.Step{Verb: plan.VerbPause, Node: b})
	t.sleep(failover)
	t.add(plan.Step{Verb: plan.VerbResume, Node: b})
	t.line = append(t.line[1:], b)
}

func (t *table) cut(a, b kafka.BrokerID) {
	if a == kafka.NoBroker || b == kafka.NoBroker {
		return
	}
	t.cutOff = true
	t.add(plan.Step{Verb: plan.VerbCut, Node: a, Peer: b, Both: true})
}

// hold keeps the next fetch response of a leader from a follower.
func (t *table) hold(from, to kafka.BrokerID) {
	if from == kafka.NoBroker || to == kafka.NoBroker {
		return
	}
	t.held = true
	t.add(plan.Step{Verb: plan.VerbHold, API: "fetch", Response: true, Node: from, Peer: to})
}

// everywhere heals or releases all, if there is anything.
func (t *table) everywhere(verb plan.Verb) {
	open := &t.cutOff
	if verb == plan.VerbRelease {
		open = &t.held
	}
	if *open {
		*open = false
		t.add(plan.Step{Verb: verb, Node: kafka.NoBroker, Peer: kafka.NoBroker})
	}
}

func (t *table) mend() {
	t.everywhere(plan.VerbHeal)
	t.everywhere(plan.VerbRelease)
	t.startAll()
	t.add(plan.Step{Verb: plan.VerbWait, For: 90 * time.Second, Predicate: plan.Predicate{Subject: plan.WaitISR, Topic: drawnPartition.Topic, ISR: t.all}})
	t.add(plan.Step{Verb: plan.VerbConsumer, Client: drawnConsumer})
	t.add(plan.Step{Verb: plan.VerbVerify, Client: drawnConsumer, Topic: drawnTopic, Partition: -1})
}
