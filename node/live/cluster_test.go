package live_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/model/rules"
	"tidemark/node"
	"tidemark/node/app"
	"tidemark/node/broker"
	"tidemark/node/live"
)

// parting is what a test that gives up leaves of the time that go test has, for its
// words and its cleaning up. A step of a real cluster may take all the rest: how
// slow a machine may be is for -timeout to say, and nothing waits for it to pass.
const parting = 10 * time.Second

// firstClient is the node id of a plan's first client.
const firstClient kafka.BrokerID = 1001

// cluster is a controller, brokers and clients, each a node of its own on
// loopback, and what their events say so far.
type cluster struct {
	t     *testing.T
	dir   string
	addr  map[kafka.BrokerID]string
	roles map[kafka.BrokerID]broker.Config
	nodes map[kafka.BrokerID]*live.Node
	tape  *live.Recorder // of brokers and controllers; nil records nothing
	names []string       // of the clients, by id from firstClient on

	mu      sync.Mutex
	changed *sync.Cond
	late    bool
	seq     uint64
	start   time.Time
	view    *event.View
	checker *checker.Checker
	events  []*event.Event
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{t: t, dir: t.TempDir(), addr: map[kafka.BrokerID]string{}, roles: map[kafka.BrokerID]broker.Config{},
		nodes: map[kafka.BrokerID]*live.Node{}, start: time.Now(), view: event.NewView(), checker: checker.New()}
	c.changed = sync.NewCond(&c.mu)
	t.Cleanup(func() {
		for _, n := range c.nodes {
			n.Kill()
		}
	})
	return c
}

// observe is the sink of every node: it makes one trace of all.
func (c *cluster) observe(e *event.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	e.Seq, e.At = c.seq, int64(time.Since(c.start))
	c.events = append(c.events, e)
	c.view.Observe(e)
	c.checker.Observe(e)
	c.changed.Broadcast()
}

// wait waits until the events satisfy a condition.
func (c *cluster) wait(what string, holds func() bool) {
	c.t.Helper()
	if end, limited := c.t.Deadline(); limited {
		alarm := time.AfterFunc(time.Until(end)-parting, func() {
			c.mu.Lock()
			c.late = true
			c.mu.Unlock()
			c.changed.Broadcast()
		})
		defer alarm.Stop()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for !holds() {
		if c.late {
			c.t.Fatalf("waited too long for: %s", what)
		}
		c.changed.Wait()
	}
}

// count is how many events of a kind a node told.
func (c *cluster) count(k event.Kind, id kafka.BrokerID) int {
	n := 0
	for _, e := range c.events {
		if e.Kind == k && e.Node == id {
			n++
		}
	}
	return n
}

// add makes a broker or controller known; combined nodes are both. A dead broker
// is soon fenced; one that a busy machine forgets for that long is fenced too, and
// no test may mind.
func (c *cluster) add(id kafka.BrokerID, isBroker, isController bool) {
	properties, err := kafka.NewConfig(kafka.BrokerScope,
		kafka.Pair{Key: "broker.session.timeout.ms", Value: "2000"}, kafka.Pair{Key: "broker.heartbeat.interval.ms", Value: "100"},
		kafka.Pair{Key: "min.insync.replicas", Value: "2"})
	if err != nil {
		c.t.Fatal(err)
	}
	cfg := broker.Config{ID: id, Broker: isBroker, Controller: isController, ClusterID: kafka.UUID{1, 2, 3},
		Properties: properties, Rules: rules.Current(), DataLanes: 2}
	if isBroker {
		cfg.ClientAddr = live.FreeAddr(c.t)
	}
	if isController {
		cfg.ControllerAddr = live.FreeAddr(c.t)
	}
	c.roles[id] = cfg
}

// boot starts a life of a broker or controller.
func (c *cluster) boot(id kafka.BrokerID) *live.Node {
	c.t.Helper()
	cfg := c.roles[id]
	cfg.Voters = nil
	for v := kafka.BrokerID(0); v < firstClient; v++ {
		if c.roles[v].Controller {
			cfg.Voters = append(cfg.Voters, broker.Voter{ID: v, Addr: c.roles[v].ControllerAddr})
		}
	}
	c.roles[id] = cfg
	return c.run(broker.Lanes(cfg), live.Options{Dir: filepath.Join(c.dir, strconv.Itoa(int(id))), Record: c.tape,
		Config: []byte(strconv.Itoa(int(id)))})
}

func (c *cluster) run(spec node.Spec, o live.Options) *live.Node {
	c.t.Helper()
	o.Emit = c.observe
	n, err := live.Start(spec, o)
	if err != nil {
		c.t.Fatal(err)
	}
	c.nodes[spec.ID] = n
	return n
}

// ready waits for the n-th time that a broker said that it is.
func (c *cluster) ready(id kafka.BrokerID, n int) {
	c.t.Helper()
	c.wait("broker "+strconv.Itoa(int(id))+" is ready", func() bool { return c.count(event.Ready, id) == n })
}

// stop asks a broker for a controlled shutdown.
func (c *cluster) stop(id kafka.BrokerID) {
	c.t.Helper()
	lane := node.Lifecycle
	if !c.roles[id].Broker {
		lane = node.Quorum
	}
	if id >= firstClient {
		lane = node.App
	}
	if err := c.nodes[id].Post(lane, node.Stop{}); err != nil {
		c.t.Fatal(err)
	}
	if reason := c.nodes[id].Wait(); reason != "controlled shutdown" {
		c.t.Fatalf("node %d ended: %s", id, reason)
	}
}

func TestControllerAndBrokerBecomeReadyStopCleanlyAndComeBack(t *testing.T) {
	c := newCluster(t)
	c.add(101, false, true)
	c.add(1, true, false)
	c.boot(101)
	c.boot(1)
	c.ready(1, 1)
	c.stop(1)
	c.boot(1)
	c.ready(1, 2)
	c.stop(1)
	c.stop(101)
}

func TestCombinedNodeBecomesReadyIsKilledAndComesBack(t *testing.T) {
	c := newCluster(t)
	c.add(1, true, true)
	n := c.boot(1)
	c.ready(1, 1)
	n.Kill()
	c.boot(1)
	c.ready(1, 2)
	c.stop(1)
}

// The plan of the story `healthy`, carried out by real processes' worth of
// threads, sockets and files: up to the death of the leader, and from there on.
// Which broker leads is the machine's affair.
const (
	load = `cluster brokers=3 controllers=1 lanes=2
topic orders assignment=1,2,3
producer p acks=all linger.ms=0
consumer reader auto.offset.reset=earliest
consumer auditor
wait isr orders-0 = 1,2,3 within 30s
read reader orders from earliest
write p orders 300 every 5ms
wait acked p >= 50 within 30s
`
	recovery = `wait acked p = 300 within 60s
start %d
wait isr orders-0 = 1,2,3 within 60s
verify auditor orders
`
)

var orders = kafka.TopicPartition{Topic: "orders"}

func TestAcknowledgedRecordsSurviveTheKillOfTheirLeader(t *testing.T) {
	c := newCluster(t)
	c.add(101, false, true)
	for id := kafka.BrokerID(1); id <= 3; id++ {
		c.add(id, true, false)
	}
	c.failover()
	for id := kafka.BrokerID(3); id > 0; id-- {
		c.stop(id)
	}
	c.stop(101)
	c.mu.Lock()
	defer c.mu.Unlock()
	if report := c.checker.Report(); report.Verdict != checker.Pass {
		t.Errorf("verdict %v: %+v %v", report.Verdict, report.Findings, report.Unknown)
	}
}

// failover boots everything and carries the plan out.
func (c *cluster) failover() {
	c.t.Helper()
	p := c.parse(load)
	var bootstrap []string
	c.boot(101)
	for id := kafka.BrokerID(1); id <= 3; id++ {
		c.boot(id)
		bootstrap = append(bootstrap, c.roles[id].ClientAddr)
	}
	c.names = append([]string{plan.AdminClient}, p.Clients()...)
	for i, name := range c.names {
		c.run(node.Spec{ID: firstClient + kafka.BrokerID(i), Lanes: []node.LaneSpec{{Lane: node.App,
			Process: app.New(app.Config{Name: name, Bootstrap: bootstrap})}}}, live.Options{})
	}
	c.carryOut(p.Steps)
	killed := c.killLeader()
	c.carryOut(c.parse(load + fmt.Sprintf(recovery, killed)).Steps[len(p.Steps):])
}

func (c *cluster) parse(text string) *plan.Plan {
	c.t.Helper()
	p, err := plan.Parse("failover.txt", text)
	if err != nil {
		c.t.Fatal(err)
	}
	return p
}

func (c *cluster) carryOut(steps []plan.Step) {
	c.t.Helper()
	for i := range steps {
		c.step(&steps[i])
	}
}

// killLeader kills the leader of orders-0 and waits for another.
func (c *cluster) killLeader() (killed kafka.BrokerID) {
	c.t.Helper()
	c.wait("a leader of orders-0", func() bool {
		killed, _ = c.view.Leader(orders)
		return killed != kafka.NoBroker
	})
	c.nodes[killed].Kill()
	c.wait("another leader of orders-0 than "+strconv.Itoa(int(killed)), func() bool {
		leader, _ := c.view.Leader(orders)
		return leader != kafka.NoBroker && leader != killed
	})
	return killed
}

func (c *cluster) step(s *plan.Step) {
	c.t.Helper()
	switch s.Verb {
	case plan.VerbStart:
		c.boot(s.Node)
	case plan.VerbWait:
		c.wait(s.String(), func() bool { return s.Predicate.Holds(c.view) })
	default:
		c.post(s)
	}
	if s.Verb == plan.VerbVerify {
		c.wait(s.String(), func() bool { return c.drained(s.Client) })
	}
}

// post gives a step to its client.
func (c *cluster) post(s *plan.Step) {
	c.t.Helper()
	name := s.Client
	if name == "" {
		name = plan.AdminClient
	}
	id := firstClient + kafka.BrokerID(slices.Index(c.names, name))
	if err := c.nodes[id].Post(node.App, s); err != nil {
		c.t.Fatal(err)
	}
}

// drained tells whether a client has read all that there is.
func (c *cluster) drained(client string) bool {
	for _, e := range c.events {
		if e.Kind == event.PollOK && e.Client == client && e.Drained {
			return true
		}
	}
	return false
}
