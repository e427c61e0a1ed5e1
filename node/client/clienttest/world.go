package clienttest

import (
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
)

// API keys, to Take and to put into On.
const (
	Produce              int16 = 0
	Fetch                int16 = 1
	ListOffsets          int16 = 2
	Metadata             int16 = 3
	ApiVersions          int16 = 18
	CreateTopics         int16 = 19
	InitProducerID       int16 = 22
	OffsetForLeaderEpoch int16 = 23
	ElectLeaders         int16 = 43
)

// Host is the lane under test; a node.Process is one.
type Host interface {
	Receive(node.ConnID, *node.Message)
	Disconnected(node.ConnID)
	Fire(node.TimerID)
}

// TB is what World needs of a testing.TB.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// World is a clock, a lane's environment and a cluster of scripted brokers.
type World struct {
	Host Host
	// On answers requests of one API instead of holding them.
	On map[int16]func(*Request)
	// Held are the requests that wait for Take, in order of arrival.
	Held []*Request
	// Seen are all requests that arrived, in order.
	Seen []*Request
	// Events is what the lane emitted.
	Events []event.Event
	// Exited is the reason of Env.Exit, "" before.
	Exited string
	// MaxVersions lowers what the brokers say they speak, by API key.
	MaxVersions map[int16]int16

	t       TB
	now     time.Duration
	seq     uint64
	queue   []due
	timers  map[node.TimerID]bool
	lastID  uint64
	conns   map[node.ConnID]*conn
	brokers []*broker
	topics  []*topic
	rand    uint64
	lastPID int64                         // the producer id given out last
	logs    map[kafka.TopicPartition]*log // of Serve
}

type due struct {
	at  time.Duration
	seq uint64
	run func()
}

type broker struct {
	id    kafka.BrokerID
	down  bool
	dials int
}

type conn struct {
	broker  *broker
	gone    bool
	waiting []*Request // without a delivered answer, in order of arrival
}

// Request is one request as a broker got it.
type Request struct {
	Broker kafka.BrokerID
	At     time.Duration
	Body   kmsg.Request

	w    *World
	conn node.ConnID
	corr int32
	done kmsg.Response // the answer, until those before it are delivered
}

// New returns a world with brokers 1 to n, all up.
func New(t TB, n int) *World {
	w := &World{t: t, On: map[int16]func(*Request){}, MaxVersions: map[int16]int16{}, timers: map[node.TimerID]bool{},
		conns: map[node.ConnID]*conn{}, rand: 1}
	for i := range n {
		w.brokers = append(w.brokers, &broker{id: kafka.BrokerID(i + 1)})
	}
	w.On[ApiVersions], w.On[Metadata], w.On[InitProducerID] = w.answerVersions, w.answerMetadata, w.answerProducerID
	return w
}

// Bootstrap are the addresses of all brokers.
func (w *World) Bootstrap() []string {
	var addrs []string
	for _, b := range w.brokers {
		addrs = append(addrs, addr(b.id))
	}
	return addrs
}

func addr(id kafka.BrokerID) string { return fmt.Sprintf("broker%d:9092", id) }

// Down ends a broker: its connections break and it refuses new ones.
func (w *World) Down(id kafka.BrokerID) {
	b := w.broker(id)
	b.down = true
	w.Cut(id)
}

// Up ends Down.
func (w *World) Up(id kafka.BrokerID) { w.broker(id).down = false }

// Cut breaks every connection to a broker.
func (w *World) Cut(id kafka.BrokerID) {
	var ids []node.ConnID
	for c, k := range w.conns { // unordered: sorted below
		if k.broker.id == id && !k.gone {
			ids = append(ids, c)
		}
	}
	slices.Sort(ids)
	for _, c := range ids {
		w.cut(c)
	}
}

func (w *World) cut(c node.ConnID) {
	k := w.conns[c]
	if k == nil || k.gone {
		return
	}
	k.gone = true
	w.Held = slices.DeleteFunc(w.Held, func(r *Request) bool { return r.conn == c })
	w.post(0, func() {
		if w.conns[c] == k {
			delete(w.conns, c)
			w.Host.Disconnected(c)
		}
	})
}

// Dials counts the attempts to connect to a broker.
func (w *World) Dials(id kafka.BrokerID) int { return w.broker(id).dials }

func (w *World) broker(id kafka.BrokerID) *broker {
	for _, b := range w.brokers {
		if b.id == id {
			return b
		}
	}
	w.t.Fatalf("no broker %d", id)
	return nil
}

// Run runs what is due now.
func (w *World) Run() { w.Advance(0) }

// Advance runs everything that is due in the next d, in order.
func (w *World) Advance(d time.Duration) {
	end := w.now + d
	for len(w.queue) > 0 && w.queue[0].at <= end {
		next := w.queue[0]
		w.queue = w.queue[1:]
		w.now = max(w.now, next.at)
		next.run()
	}
	w.now = end
}

func (w *World) post(after time.Duration, run func()) {
	w.seq++
	e := due{w.now + max(after, 0), w.seq, run}
	i, _ := slices.BinarySearchFunc(w.queue, e, func(a, b due) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return int(a.seq) - int(b.seq)
	})
	w.queue = slices.Insert(w.queue, i, e)
}

// Take removes and returns the first held request of an API; without one the
// test fails.
func (w *World) Take(key int16) *Request {
	w.t.Helper()
	for i, r := range w.Held {
		if r.Body.Key() == key {
			w.Held = slices.Delete(w.Held, i, i+1)
			return r
		}
	}
	w.t.Fatalf("no request with API key %d waits", key)
	return nil
}

// Waits counts the held requests of an API.
func (w *World) Waits(key int16) int {
	n := 0
	for _, r := range w.Held {
		if r.Body.Key() == key {
			n++
		}
	}
	return n
}

// Count counts the requests of an API that arrived so far.
func (w *World) Count(key int16) int {
	n := 0
	for _, r := range w.Seen {
		if r.Body.Key() == key {
			n++
		}
	}
	return n
}

// Answer sends an answer; it arrives after those to the connection's earlier
// requests.
func (r *Request) Answer(body kmsg.Response) {
	body.SetVersion(r.Body.GetVersion())
	r.answer(body)
}

func (r *Request) answer(body kmsg.Response) {
	copied := kmsg.ResponseForKey(body.Key())
	copied.SetVersion(body.GetVersion())
	if err := copied.ReadFrom(body.AppendTo(nil)); err != nil {
		r.w.t.Fatalf("answer does not decode: %v", err)
	}
	r.done = copied
	k := r.w.conns[r.conn]
	for k != nil && !k.gone && len(k.waiting) > 0 && k.waiting[0].done != nil {
		r.w.deliver(k, k.waiting[0])
		k.waiting = k.waiting[1:]
	}
}

func (w *World) deliver(k *conn, r *Request) {
	w.post(0, func() {
		if w.conns[r.conn] == k && !k.gone {
			w.Host.Receive(r.conn, &node.Message{CorrelationID: r.corr, Response: r.done})
		}
	})
}

// Break ends the request's connection without an answer.
func (r *Request) Break() { r.w.cut(r.conn) }

// Env is the lane's environment.
func (w *World) Env() node.Env { return env{w} }

type env struct{ w *World }

func (e env) Node() kafka.BrokerID { return 1001 }
func (e env) Now() time.Duration   { return e.w.now }
func (e env) Wall() kafka.Timestamp {
	return kafka.Timestamp(1_700_000_000_000 + e.w.now.Milliseconds())
}
func (e env) Release(node.ConnID)         {}
func (e env) Post(node.Lane, any)         { panic("a client has one lane") }
func (e env) FS() disk.FS                 { return nil }
func (e env) Emit(ev *event.Event)        { e.w.Events = append(e.w.Events, copied(ev)) }
func (e env) Exit(reason string)          { e.w.Exited = reason }
func (e env) CancelTimer(id node.TimerID) { delete(e.w.timers, id) }

func copied(e *event.Event) event.Event {
	c := *e
	c.Records = slices.Clone(e.Records)
	return c
}

func (e env) Rand(string) uint64 {
	// A splitmix64 step: the same draws in each run.
	e.w.rand += 0x9e3779b97f4a7c15
	z := e.w.rand
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (e env) SetTimer(d time.Duration) node.TimerID {
	e.w.lastID++
	id := node.TimerID(e.w.lastID)
	e.w.timers[id] = true
	e.w.post(d, func() {
		if e.w.timers[id] {
			delete(e.w.timers, id)
			e.w.Host.Fire(id)
		}
	})
	return id
}

func (e env) Dial(to string) node.ConnID {
	e.w.lastID++
	id := node.ConnID(e.w.lastID)
	for _, b := range e.w.brokers {
		if addr(b.id) == to {
			e.w.conns[id] = &conn{broker: b}
			b.dials++
			if b.down {
				e.w.cut(id)
			}
			return id
		}
	}
	e.w.t.Fatalf("nobody listens at %s", to)
	return 0
}

func (e env) Close(c node.ConnID) { delete(e.w.conns, c) }

func (e env) Send(c node.ConnID, m *node.Message) {
	k := e.w.conns[c]
	if k == nil || k.gone {
		return
	}
	body := kmsg.RequestForKey(m.Key())
	body.SetVersion(m.Version())
	if err := body.ReadFrom(m.Request.AppendTo(nil)); err != nil {
		e.w.t.Fatalf("request %d v%d does not decode: %v", m.Key(), m.Version(), err)
	}
	r := &Request{Broker: k.broker.id, Body: body, w: e.w, conn: c, corr: m.CorrelationID}
	e.w.post(0, func() {
		if e.w.conns[c] == k && !k.gone {
			r.At = e.w.now
			if p, ok := body.(*kmsg.ProduceRequest); !ok || p.Acks != 0 {
				k.waiting = append(k.waiting, r)
			}
			e.w.arrive(r)
		}
	})
}

func (w *World) arrive(r *Request) {
	w.Seen = append(w.Seen, r)
	if f := w.On[r.Body.Key()]; f != nil {
		f(r)
		return
	}
	w.Held = append(w.Held, r)
}
