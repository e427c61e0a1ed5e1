package broker_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
	"tidemark/node"
	"tidemark/node/broker"
	"tidemark/sim"
)

// town is a World with controller 101, brokers 1 to 3 and one scripted client,
// 1001.
type town struct {
	t      *testing.T
	world  *sim.World
	events []event.Event
	client *talker
}

func newTown(t *testing.T, seed uint64, lanes int) *town {
	t.Helper()
	w := &town{t: t, world: sim.New(sim.Options{Seed: seed, VerifyBodies: true, Debug: true})}
	w.world.Observe(func(e *event.Event) { w.events = append(w.events, *e) })
	props, err := kafka.NewConfig(kafka.BrokerScope)
	if err != nil {
		t.Fatal(err)
	}
	voters := []broker.Voter{{ID: 101, Addr: "c101:9093"}}
	cluster := kafka.UUID{1, 2, 3}
	controller := broker.Config{ID: 101, Controller: true, ClusterID: cluster, Voters: voters, ControllerAddr: "c101:9093", Properties: props, Rules: rules.Current()}
	w.add(101, "controller", func(sim.BootInfo) node.Spec { return broker.Lanes(controller) })
	for id := kafka.BrokerID(1); id <= 3; id++ {
		cfg := broker.Config{ID: id, Broker: true, ClusterID: cluster, Voters: voters, ClientAddr: fmt.Sprintf("b%d:9092", id),
			DataLanes: lanes, Properties: props, Rules: rules.Current()}
		w.add(id, "broker", func(sim.BootInfo) node.Spec { return broker.Lanes(cfg) })
	}
	w.client = &talker{}
	w.world.AddNode(sim.NodeConfig{ID: 1001, Name: "client", Boot: func(sim.BootInfo) node.Spec {
		return node.Spec{ID: 1001, Lanes: []node.LaneSpec{{Lane: node.App, Process: w.client}}}
	}})
	for _, id := range []kafka.BrokerID{101, 1, 2, 3, 1001} {
		w.start(id)
	}
	return w
}

func (w *town) add(id kafka.BrokerID, name string, boot func(sim.BootInfo) node.Spec) {
	w.world.AddNode(sim.NodeConfig{ID: id, Name: fmt.Sprintf("%s-%d", name, id), Boot: boot, Disk: true})
}

func (w *town) start(id kafka.BrokerID) {
	w.t.Helper()
	if err := w.world.Start(id); err != nil {
		w.t.Fatal(err)
	}
}

// run lets simulated time pass and fails on a broken invariant.
func (w *town) run(d time.Duration) {
	w.t.Helper()
	w.world.Run(w.world.Now() + int64(d))
	if f := w.world.Failure(); f != nil {
		w.t.Fatal(f)
	}
}

// count is how often a kind of event was seen of a node.
func (w *town) count(kind event.Kind, id kafka.BrokerID) int {
	n := 0
	for _, e := range w.events {
		if e.Kind == kind && e.Node == id {
			n++
		}
	}
	return n
}

// ask sends a request to a broker and returns its answer, within a minute.
func (w *town) ask(addr string, req kmsg.Request) kmsg.Response {
	w.t.Helper()
	w.client.answer = nil
	if err := w.world.Post(1001, node.App, question{addr, req}); err != nil {
		w.t.Fatal(err)
	}
	for range 600 {
		w.run(100 * time.Millisecond)
		if w.client.answer != nil {
			return w.client.answer
		}
	}
	w.t.Fatalf("no answer of %s to key %d", addr, req.Key())
	return nil
}

// question is what the test posts to the client.
type question struct {
	addr string
	req  kmsg.Request
}

// talker is a client that asks one question at a time, again if its connection
// was lost.
type talker struct {
	env    node.Env
	addr   string
	conn   node.ConnID // 0: none
	last   int32
	asked  kmsg.Request // nil: answered
	answer kmsg.Response
}

func (c *talker) Start(env node.Env) { c.env = env }

func (c *talker) Posted(_ node.Lane, msg any) {
	q := msg.(question)
	if c.conn != 0 {
		c.env.Close(c.conn)
		c.conn = 0
	}
	c.addr, c.asked = q.addr, q.req
	c.ask()
}

func (c *talker) ask() {
	if c.conn == 0 {
		c.conn = c.env.Dial(c.addr)
	}
	c.last++
	c.env.Send(c.conn, &node.Message{CorrelationID: c.last, ClientID: "talker", Request: c.asked})
}

func (c *talker) Receive(_ node.ConnID, m *node.Message) { c.answer, c.asked = m.Response, nil }

func (c *talker) Disconnected(node.ConnID) {
	c.conn = 0
	if c.asked != nil {
		c.env.SetTimer(100 * time.Millisecond)
	}
}

func (c *talker) Fire(node.TimerID) {
	if c.asked != nil && c.conn == 0 {
		c.ask()
	}
}

func (c *talker) Synced(disk.Token, error) {}

// createOrders asks broker 1 for a topic with one partition, led by 1.
func (w *town) createOrders() kafka.UUID {
	w.t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 7, 30000
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "orders", -1, -1
	topic.ReplicaAssignment = []kmsg.CreateTopicsRequestTopicReplicaAssignment{{Partition: 0, Replicas: []int32{1, 2, 3}}}
	req.Topics = append(req.Topics, topic)
	res := w.ask("b1:9092", req).(*kmsg.CreateTopicsResponse)
	if code := kafka.ErrorCode(res.Topics[0].ErrorCode); code != kafka.None {
		w.t.Fatalf("create topic: %v", code)
	}
	w.run(time.Second)
	return res.Topics[0].TopicID
}

func (w *town) produce(addr string, id kafka.UUID, value string) *kmsg.ProduceResponse {
	w.t.Helper()
	b := record.NewBuilder(record.NoProducer())
	b.Append(1_767_225_600_000, nil, []byte(value), nil)
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 13, -1, 30000
	req.Topics = []kmsg.ProduceRequestTopic{{TopicID: id, Partitions: []kmsg.ProduceRequestTopicPartition{{Records: b.Build()}}}}
	return w.ask(addr, req).(*kmsg.ProduceResponse)
}

func (w *town) read(addr string, id kafka.UUID) (values []string, hw int64) {
	w.t.Helper()
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 18, 100, 1, 1<<20
	p := kmsg.NewFetchRequestTopicPartition()
	p.PartitionMaxBytes = 1 << 20
	req.Topics = []kmsg.FetchRequestTopic{{TopicID: id, Partitions: []kmsg.FetchRequestTopicPartition{p}}}
	res := w.ask(addr, req).(*kmsg.FetchResponse)
	got := res.Topics[0].Partitions[0]
	if got.ErrorCode != 0 {
		w.t.Fatalf("fetch from %s: %v", addr, kafka.ErrorCode(got.ErrorCode))
	}
	for rest := got.RecordBatches; len(rest) > 0; {
		batch, after, err := record.Next(rest)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := batch.Each(func(r record.Record) error { values = append(values, string(r.Value)); return nil }); err != nil {
			w.t.Fatal(err)
		}
		rest = after
	}
	return values, got.HighWatermark
}

func TestControllerAndThreeBrokersBootAndServe(t *testing.T) {
	for _, lanes := range []int{1, 3} {
		w := newTown(t, 7, lanes)
		w.run(5 * time.Second)
		for id := kafka.BrokerID(1); id <= 3; id++ {
			if n := w.count(event.Ready, id); n != 1 {
				t.Fatalf("broker %d was ready %d times", id, n)
			}
		}
		id := w.createOrders()
		for i, value := range []string{"a", "b", "c"} {
			p := w.produce("b1:9092", id, value).Topics[0].Partitions[0]
			if p.ErrorCode != 0 || p.BaseOffset != int64(i) {
				t.Fatalf("produce %q: %v at %d", value, kafka.ErrorCode(p.ErrorCode), p.BaseOffset)
			}
		}
		if values, hw := w.read("b1:9092", id); strings.Join(values, "") != "abc" || hw != 3 {
			t.Errorf("leader serves %v up to %d", values, hw)
		}
		w.run(2 * time.Second) // followers learn of the high watermark with their next fetch
		if values, _ := w.read("b3:9092", id); strings.Join(values, "") != "abc" {
			t.Errorf("follower serves %v", values)
		}
	}
}

func TestWorldRunsOfOneSeedAreEqual(t *testing.T) {
	digest := func() uint64 {
		w := newTown(t, 11, 2)
		w.run(3 * time.Second)
		w.produce("b1:9092", w.createOrders(), "a")
		return w.world.Digest()
	}
	if first, second := digest(), digest(); first != second {
		t.Errorf("digests %x and %x", first, second)
	}
}

func TestStoppedBrokerHandsItsLeadershipOverAndComesBackClean(t *testing.T) {
	w := newTown(t, 3, 2)
	w.run(5 * time.Second)
	id := w.createOrders()
	w.produce("b1:9092", id, "a")
	if err := w.world.Stop(1); err != nil {
		t.Fatal(err)
	}
	w.run(10 * time.Second)
	died := w.events[len(w.events)-1]
	for _, e := range w.events {
		if e.Kind == event.Died {
			died = e
		}
	}
	if died.Kind != event.Died || died.Node != 1 || died.Text != "stop" {
		t.Fatalf("last death %+v, want a clean stop of broker 1", died)
	}
	if p := w.produce("b2:9092", id, "b").Topics[0].Partitions[0]; p.ErrorCode != 0 || p.BaseOffset != 1 {
		t.Errorf("broker 2 answers %v at %d, want to lead", kafka.ErrorCode(p.ErrorCode), p.BaseOffset)
	}
	w.start(1)
	w.run(10 * time.Second)
	if n := w.count(event.Ready, 1); n != 2 {
		t.Fatalf("broker 1 was ready %d times, want twice", n)
	}
	recovered := 0
	for _, e := range w.events {
		if e.Kind == event.Recovered && e.Node == 1 && e.Text == "clean" && e.End == 1 {
			recovered++
		}
	}
	if recovered != 1 {
		t.Errorf("broker 1 recovered %d clean logs that end at 1", recovered)
	}
	if values, _ := w.read("b1:9092", id); strings.Join(values, "") != "ab" {
		t.Errorf("broker 1 has %v after its return", values)
	}
}

func TestKilledLeaderIsReplacedAndItsRecordsStay(t *testing.T) {
	w := newTown(t, 5, 1)
	w.run(5 * time.Second)
	id := w.createOrders()
	w.produce("b1:9092", id, "a")
	if err := w.world.Power(1, simdisk.Loss(0)); err != nil {
		t.Fatal(err)
	}
	w.run(15 * time.Second)
	if p := w.produce("b2:9092", id, "b").Topics[0].Partitions[0]; p.ErrorCode != 0 || p.BaseOffset != 1 {
		t.Fatalf("broker 2 answers %v at %d, want to lead", kafka.ErrorCode(p.ErrorCode), p.BaseOffset)
	}
	w.start(1)
	w.run(20 * time.Second)
	if values, _ := w.read("b1:9092", id); strings.Join(values, "") != "ab" {
		t.Errorf("broker 1 has %v after its return", values)
	}
	isr := 0
	for _, e := range w.events {
		if e.Kind == event.ISRChanged && e.Topic == "orders" {
			isr = len(e.ISR)
		}
	}
	if isr != 3 {
		t.Errorf("the ISR has %d members after the return, want 3", isr)
	}
}

// newHermit is a World with one node, 1, that is broker and controller, and the
// scripted client.
func newHermit(t *testing.T, seed uint64) *town {
	t.Helper()
	w := &town{t: t, world: sim.New(sim.Options{Seed: seed, VerifyBodies: true}), client: &talker{}}
	w.world.Observe(func(e *event.Event) { w.events = append(w.events, *e) })
	props, err := kafka.NewConfig(kafka.BrokerScope)
	if err != nil {
		t.Fatal(err)
	}
	cfg := broker.Config{ID: 1, Broker: true, Controller: true, ClusterID: kafka.UUID{1}, Voters: []broker.Voter{{ID: 1, Addr: "b1:9093"}},
		ClientAddr: "b1:9092", ControllerAddr: "b1:9093", DataLanes: 1, Properties: props, Rules: rules.Current()}
	w.add(1, "node", func(sim.BootInfo) node.Spec { return broker.Lanes(cfg) })
	w.world.AddNode(sim.NodeConfig{ID: 1001, Name: "client", Boot: func(sim.BootInfo) node.Spec {
		return node.Spec{ID: 1001, Lanes: []node.LaneSpec{{Lane: node.App, Process: w.client}}}
	}})
	w.start(1)
	w.start(1001)
	return w
}

func TestCombinedNodeServesAloneAndStopsClean(t *testing.T) {
	w := newHermit(t, 2)
	w.run(5 * time.Second)
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 7, 30000
	req.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: "orders", NumPartitions: 1, ReplicationFactor: 1}}
	id := w.ask("b1:9092", req).(*kmsg.CreateTopicsResponse).Topics[0].TopicID
	w.run(time.Second)
	w.produce("b1:9092", id, "a")
	if err := w.world.Stop(1); err != nil {
		t.Fatal(err)
	}
	w.run(10 * time.Second)
	w.start(1)
	w.run(10 * time.Second)
	clean := 0
	for _, e := range w.events {
		if e.Kind == event.Died && e.Text == "stop" || e.Kind == event.Recovered && e.Text == "clean" && e.End == 1 {
			clean++
		}
	}
	if values, _ := w.read("b1:9092", id); clean != 2 || strings.Join(values, "") != "a" {
		t.Errorf("%d of stop and recovery were clean; read %v", clean, values)
	}
}
