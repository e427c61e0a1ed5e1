package replica

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/rules"
)

// chaos drives three replicas and the controller through random steps, and
// keeps account of what any leader has ever committed.
type chaos struct {
	*cluster
	rules     rules.Rules
	choose    func(n int) int // from 0 to n-1
	down      [3]bool
	metadata  [3][]State // on its way to each broker, in order
	inFlight  [3]*reply  // answers on their way to a follower
	answers   []func()   // of the controller, on their way
	committed []entry    // by offset: every record is a batch of its own
	seen      int        // events looked at
	elections int
	failovers int
}

func newChaos(t failer, r rules.Rules, choose func(int) int) *chaos {
	c := &chaos{cluster: newCluster(t, 3, r, Config{LagTimeMax: lagTimeMax, MinISR: 1}), rules: r, choose: choose}
	c.elect(A)
	return c
}

// step does one random thing, and returns the invariant that it broke.
func (c *chaos) step() error {
	b := c.at(kafka.BrokerID(c.choose(3)))
	switch c.choose(14) {
	case 0, 1, 2:
		if !c.down[b.id] && b.p.IsLeader() {
			b.p.AppendAsLeader(c.batch(), AcksLeader)
			b.purgatory.Complete()
		}
	case 3, 4, 5, 6, 7, 8:
		c.replicate(b)
	case 9:
		c.tell(b.id)
	case 10:
		c.alter()
	case 11:
		if leader := c.state.ISR[c.choose(len(c.state.ISR))]; !c.down[leader] && leader != c.state.Leader {
			c.newLeader(leader)
			return c.check()
		}
	case 12:
		c.kill(b)
	case 13:
		c.now += time.Duration(c.choose(20)) * time.Second
		if !c.down[b.id] {
			b.p.MaybeShrinkISR()
		}
	}
	return c.check()
}

// replicate moves a follower's one request a step on: to the leader, or back.
func (c *chaos) replicate(b *broker) {
	if c.down[b.id] || b.fetcher == nil {
		return
	}
	if r := c.inFlight[b.id]; r != nil {
		c.inFlight[b.id] = nil
		c.deliver(b.id, *r)
		return
	}
	ask, ok := b.fetcher.Next()
	if !ok {
		return
	}
	r := reply{ask: ask, failed: true}
	if !c.down[b.fetcher.Leader()] {
		r = c.serve(b.id, ask)
	}
	c.inFlight[b.id] = &r
}

// alter lets the controller decide on a proposal, or brings a decision back.
func (c *chaos) alter() {
	if len(c.answers) > 0 && c.choose(2) == 0 {
		c.answers[0]()
		c.answers = c.answers[1:]
		return
	}
	if len(c.proposals) > 0 {
		s, a := c.alterPartition()
		if a.Code == kafka.None {
			c.publish()
		}
		to := s.from.p
		c.answers = append(c.answers, func() { c.bring(s, a, to) })
	}
}

// newLeader is a clean election: of an ISR member, told to some at once.
func (c *chaos) newLeader(id kafka.BrokerID) {
	c.elections++
	c.elect(id, kafka.NoBroker) // nobody hears of it yet
	c.publish()
	for _, b := range c.brokers {
		for len(c.metadata[b.id]) > 0 && c.choose(2) == 0 {
			c.tell(b.id)
		}
	}
}

// publish sends the newest metadata on its way to every broker that is up.
func (c *chaos) publish() {
	for _, b := range c.brokers {
		if !c.down[b.id] {
			c.metadata[b.id] = append(c.metadata[b.id], c.state)
		}
	}
}

// tell brings a broker the oldest metadata that it does not have. An answer on
// its way to a fetcher that the metadata replaces is gone.
//
// A broker sees every leadership here. One that skipped another's, between two
// of its own, would go on counting what followers had before the one in between.
func (c *chaos) tell(id kafka.BrokerID) {
	if len(c.metadata[id]) == 0 {
		return
	}
	b, s := c.at(id), c.metadata[id][0]
	c.metadata[id] = c.metadata[id][1:]
	if b.p.LeaderEpoch() != s.LeaderEpoch {
		c.inFlight[id] = nil
	}
	b.apply(s)
}

// bring gives a leader the controller's answer and, at the same instant, the
// metadata that the answer has told already. Were there a proposal in between,
// the metadata would make the leader forget it while it may still succeed; the
// leader then waits for the proposed replica only while that counts as caught up.
func (c *chaos) bring(s submission, a ISRAnswer, to *Partition) {
	b := s.from
	if c.down[b.id] || b.p != to {
		return // that life is over
	}
	to.ISRAnswered(s.proposal, a)
	for m := c.metadata[b.id]; len(m) > 0 && m[0].PartitionEpoch <= b.p.PartitionEpoch(); m = c.metadata[b.id] {
		c.tell(b.id)
	}
}

// kill ends a broker's life, fences it as far as the ISR allows, and elects
// another leader; a broker that is down comes back, with a checkpointed high
// watermark that may be old.
func (c *chaos) kill(b *broker) {
	if c.down[b.id] {
		c.down[b.id] = false
		b.life = c.image[b.id].Epoch + 10
		c.image[b.id] = Broker{Epoch: b.life}
		b.boot(c.rules.Replica, kafka.Offset(c.choose(int(b.p.HighWatermark())+1)))
		c.metadata[b.id] = []State{c.state}
		c.tell(b.id)
		return
	}
	rest := slices.DeleteFunc(slices.Clone(c.state.ISR), func(m kafka.BrokerID) bool { return m == b.id || c.down[m] })
	if len(rest) == 0 {
		return // the last one standing
	}
	c.down[b.id] = true
	c.inFlight[b.id], c.metadata[b.id] = nil, nil
	c.image[b.id] = Broker{Epoch: b.life, Fenced: true}
	c.setISR(rest...)
	c.publish()
	if c.state.Leader == b.id {
		c.failovers++
		c.newLeader(rest[c.choose(len(rest))])
	}
}

// check looks at what the last step has done.
func (c *chaos) check() error {
	for ; c.seen < len(c.events); c.seen++ {
		if err := c.observe(&c.events[c.seen]); err != nil {
			return err
		}
	}
	for x := A; x <= C; x++ {
		for y := x + 1; y <= C; y++ {
			if o, parted := c.parted(x, y); parted {
				return fmt.Errorf("LogMatching: %d and %d differ at offset %d, below both high watermarks: %v %v", x, y, o, c.entries(x), c.entries(y))
			}
		}
	}
	return nil
}

// observe takes note of what leaders commit, and of who becomes leader.
func (c *chaos) observe(e *event.Event) error {
	log := c.entries(e.Node)
	switch {
	case e.Kind == event.HighWatermarkMoved && e.Text == "leader":
		for o := int64(len(c.committed)); o < int64(e.HighWatermark); o++ {
			c.committed = append(c.committed, log[o])
		}
	case e.Kind == event.BecameLeader && e.Epoch == c.state.LeaderEpoch:
		for o, want := range c.committed {
			if o >= len(log) || log[o] != want {
				return fmt.Errorf("LeaderCompleteness: %d leads epoch %d without the committed %v", e.Node, e.Epoch, want)
			}
		}
	}
	return nil
}

const chaosSteps = 300

// run takes random steps until one breaks an invariant.
func (c *chaos) run() error {
	for range chaosSteps {
		if err := c.step(); err != nil {
			return err
		}
	}
	return nil
}

// TestCommittedRecordsSurviveAnyCleanElection: whatever is held, dropped, late or
// restarted, as long as leaders come from the ISR and no disk forgets.
func TestCommittedRecordsSurviveAnyCleanElection(t *testing.T) {
	elections, failovers, committed := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := newChaos(t, rules.Current(), func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
		if err := c.run(); err != nil {
			t.Fatal(err)
		}
		elections += c.elections
		failovers += c.failovers
		committed += len(c.committed)
	})
	if elections < 100 || failovers < 20 || committed < 100 {
		t.Errorf("only %d elections, %d failovers, %d committed records: nothing was shown", elections, failovers, committed)
	}
}

// TestSameRunsLoseRecordsOnlyUnderTruncationToHighWatermark: the search is able
// to find a loss, and it is the rule that makes it.
func TestSameRunsLoseRecordsOnlyUnderTruncationToHighWatermark(t *testing.T) {
	old, losses := variant(t, "truncate=toHW"), 0
	const runs = 200
	for seed := range uint64(runs) {
		run := func(r rules.Rules) error { return newChaos(t, r, rand.New(rand.NewPCG(seed, 1)).IntN).run() }
		if err := run(rules.Current()); err != nil {
			t.Errorf("seed %d under the current rules: %v", seed, err)
		}
		if run(old) != nil {
			losses++
		}
	}
	if losses == 0 {
		t.Errorf("%d runs under truncate=toHW found no lost or parted record", runs)
	}
	t.Logf("%d of %d runs lose or part records under truncate=toHW", losses, runs)
}
