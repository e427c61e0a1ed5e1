package controller

import (
	"slices"
	"testing"
	"time"

	"tidemark/disk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
	"tidemark/node/quorum"
)

// env is a node.Env with a clock, timers and a trace, and nothing that a
// controller must not touch.
type env struct {
	now    time.Duration
	last   node.TimerID
	due    map[node.TimerID]time.Duration
	draws  uint64
	events []event.Event
}

func (e *env) Node() kafka.BrokerID { return 101 }
func (e *env) Now() time.Duration   { return e.now }
func (e *env) Wall() kafka.Timestamp {
	return kafka.Timestamp(e.now / time.Millisecond)
}
func (e *env) SetTimer(d time.Duration) node.TimerID {
	e.last++
	e.due[e.last] = e.now + max(d, 0)
	return e.last
}
func (e *env) CancelTimer(id node.TimerID) { delete(e.due, id) }
func (e *env) Rand(string) uint64          { e.draws++; return e.draws * 0x9e3779b97f4a7c15 }
func (e *env) Emit(ev *event.Event)        { e.events = append(e.events, *ev) }

func (e *env) Dial(string) node.ConnID         { panic("a controller does not dial") }
func (e *env) Send(node.ConnID, *node.Message) { panic("a controller does not send") }
func (e *env) Release(node.ConnID)             { panic("a controller does not release") }
func (e *env) Close(node.ConnID)               { panic("a controller does not close") }
func (e *env) Post(node.Lane, any)             { panic("a controller does not post") }
func (e *env) FS() disk.FS                     { panic("a controller has no files") }
func (e *env) Exit(reason string)              { panic("exit: " + reason) }
func (e *env) kinds() (kinds []event.Kind) {
	for _, ev := range e.events {
		kinds = append(kinds, ev.Kind)
	}
	return kinds
}

// log is a Quorum whose commits happen when a test says so.
type log struct {
	batches   []quorum.Committed
	committed int // batches
	next      kafka.Offset
}

func (l *log) NextOffset() kafka.Offset { return l.next }
func (l *log) Append(recs []metadata.Record) kafka.Offset {
	base := l.next
	l.next += kafka.Offset(len(recs))
	l.batches = append(l.batches, quorum.Committed{Base: base, Last: l.next - 1, Epoch: 1, Records: recs})
	return base
}

// world is a controller, active unless a test resigns it.
type world struct {
	*testing.T
	*Controller
	env    *env
	log    *log
	timers *node.Timers
}

// clusterID of the tests.
var clusterID = kafka.UUID{15: 200}

func newWorld(t *testing.T, features []metadata.FeatureLevel, static ...kafka.Pair) *world {
	t.Helper()
	cfg, err := kafka.NewConfig(kafka.BrokerScope, static...)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, env: &env{due: map[node.TimerID]time.Duration{}}, log: &log{}}
	w.timers = node.NewTimers(w.env)
	w.Controller = New(Config{ID: 101, ClusterID: clusterID, Static: cfg, Features: features}, w.env, w.timers, w.log)
	w.HandleLeaderChange(101, 1)
	w.commit()
	return w
}

// elr and noELR are the features of new clusters with Kafka 4.1 and 4.0.
var (
	elr   = DefaultFeatures()
	noELR = []metadata.FeatureLevel{{Name: metadata.FeatureMetadataVersion, Level: MetadataVersion}}
)

// commit makes everything appended so far durable.
func (w *world) commit() {
	for w.log.committed < len(w.log.batches) {
		w.log.committed++
		w.HandleCommit(w.log.batches[w.log.committed-1])
	}
}

// after lets time pass, fires the timers in it in order and commits.
func (w *world) after(d time.Duration) {
	end := w.env.now + d
	for {
		var next node.TimerID
		for id, at := range w.env.due {
			if at <= end && (next == 0 || at < w.env.due[next] || at == w.env.due[next] && id < next) {
				next = id
			}
		}
		if next == 0 {
			break
		}
		w.env.now = w.env.due[next]
		delete(w.env.due, next)
		w.timers.Fire(next)
		w.commit()
	}
	w.env.now = end
}

// register begins a life of a broker and returns its epoch. previous is the
// epoch that its clean shutdown marker holds.
func (w *world) register(id kafka.BrokerID, incarnation byte, previous kafka.BrokerEpoch) kafka.BrokerEpoch {
	w.Helper()
	code, epoch := w.tryRegister(id, incarnation, previous)
	if code != kafka.None {
		w.Fatalf("broker %d was not registered: %s", id, code)
	}
	return epoch
}

func (w *world) tryRegister(id kafka.BrokerID, incarnation byte, previous kafka.BrokerEpoch) (code kafka.ErrorCode, epoch kafka.BrokerEpoch) {
	w.RegisterBroker(request(id, incarnation, previous), func(c kafka.ErrorCode, e kafka.BrokerEpoch) { code, epoch = c, e })
	w.commit()
	return code, epoch
}

func request(id kafka.BrokerID, incarnation byte, previous kafka.BrokerEpoch) RegistrationRequest {
	return RegistrationRequest{BrokerID: id, ClusterID: clusterID.String(), IncarnationID: kafka.UUID{0: incarnation, 15: byte(id)},
		EndPoints: []metadata.Endpoint{{Name: "PLAINTEXT", Host: "b", Port: 9092}},
		Features: []metadata.FeatureRange{{Name: metadata.FeatureMetadataVersion, Min: 7, Max: 27},
			{Name: metadata.FeatureEligibleLeaderReplicas, Min: 0, Max: 1}},
		LogDirs: []kafka.UUID{{0: 1, 15: byte(id)}}, PreviousEpoch: previous}
}

// beat sends a heartbeat of the broker's registered life that has applied all
// metadata.
func (w *world) beat(id kafka.BrokerID, change ...func(*HeartbeatRequest)) HeartbeatReply {
	w.Helper()
	b, ok := w.Image().Broker(id)
	if !ok {
		w.Fatalf("broker %d is not registered", id)
	}
	req := HeartbeatRequest{BrokerID: id, BrokerEpoch: b.Epoch, MetadataOffset: w.Image().Offset()}
	for _, f := range change {
		f(&req)
	}
	var reply HeartbeatReply
	code := kafka.ErrorCode(-100)
	w.Heartbeat(req, func(c kafka.ErrorCode, r HeartbeatReply) { code, reply = c, r })
	w.commit()
	if code != kafka.None {
		w.Fatalf("heartbeat of broker %d: %s", id, code)
	}
	return reply
}

func wantFence(r *HeartbeatRequest)    { r.WantFence = true }
func wantShutdown(r *HeartbeatRequest) { r.WantShutdown = true }
func at(offset kafka.Offset) func(*HeartbeatRequest) {
	return func(r *HeartbeatRequest) { r.MetadataOffset = offset }
}

// fenceNow takes a broker's session away at once.
func (w *world) fenceNow(id kafka.BrokerID) {
	w.Helper()
	w.beat(id, wantFence)
}

var orders = kafka.TopicPartition{Topic: "orders"}

// threeBrokers are registered and unfenced, and lead orders-0 with broker 1.
func (w *world) threeBrokers(configs ...metadata.ConfigEntry) *world {
	w.Helper()
	for id := kafka.BrokerID(1); id <= 3; id++ {
		w.register(id, 1, kafka.NoBrokerEpoch)
		w.beat(id)
	}
	w.create(NewTopic{Name: "orders", Partitions: -1, ReplicationFactor: -1, Configs: configs,
		Assignment: []ManualAssignment{{0, []kafka.BrokerID{1, 2, 3}}}})
	return w
}

func (w *world) create(t NewTopic) TopicResult {
	w.Helper()
	res := w.tryCreate(t)
	if res.Code != kafka.None {
		w.Fatalf("topic %s was not created: %s, %s", t.Name, res.Code, res.Message)
	}
	return res
}

func (w *world) tryCreate(t NewTopic) (res TopicResult) {
	w.CreateTopics(CreateTopicsRequest{Topics: []NewTopic{t}}, func(_ kafka.ErrorCode, r []TopicResult) { res = r[0] })
	w.commit()
	return res
}

// want checks orders-0: its leader, ISR and ELR.
func (w *world) want(leader kafka.BrokerID, isr, elr []kafka.BrokerID) {
	w.Helper()
	p := w.orders()
	if p.Leader != leader || !slices.Equal(p.ISR, isr) || !slices.Equal(p.ELR, elr) {
		w.Errorf("orders-0 has leader %d, ISR %v, ELR %v; want %d, %v, %v", p.Leader, p.ISR, p.ELR, leader, isr, elr)
	}
}

func (w *world) orders() *metadata.PartitionImage {
	w.Helper()
	p, ok := w.Image().Partition(orders)
	if !ok {
		w.Fatal("orders-0 does not exist")
	}
	return p
}

// isr proposes an ISR for orders-0 in the leader's name and returns the answer.
func (w *world) propose(isr ...kafka.BrokerID) PartitionAnswer {
	w.Helper()
	return w.alter(w.proposal(isr...))
}

func (w *world) proposal(isr ...kafka.BrokerID) AlterPartitionRequest {
	p := w.orders()
	t, _ := w.Image().Topic(orders.Topic)
	leader, ok := w.Image().Broker(p.Leader)
	if !ok {
		w.Fatal("orders-0 has no leader that could propose an ISR")
	}
	want := PartitionProposal{TopicID: t.ID, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch}
	for _, id := range isr {
		b, _ := w.Image().Broker(id)
		want.ISR = append(want.ISR, Member{id, b.Epoch})
	}
	return AlterPartitionRequest{BrokerID: p.Leader, BrokerEpoch: leader.Epoch, Partitions: []PartitionProposal{want}}
}

func (w *world) alter(req AlterPartitionRequest) (answer PartitionAnswer) {
	w.AlterPartition(req, func(code kafka.ErrorCode, a []PartitionAnswer) {
		if code != kafka.None {
			answer = PartitionAnswer{Code: code}
			return
		}
		answer = a[0]
	})
	w.commit()
	return answer
}

func brokers(ids ...kafka.BrokerID) []kafka.BrokerID { return ids }

func minISR(n string) metadata.ConfigEntry {
	return metadata.ConfigEntry{Key: kafka.MinInsyncReplicas, Value: n}
}

var uncleanOn = metadata.ConfigEntry{Key: kafka.UncleanLeaderElection, Value: "true"}
