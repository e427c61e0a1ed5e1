package sim

import (
	"math"
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/net/simnet"
	"tidemark/net/wire"
	"tidemark/node"
)

// Options are a run's constants. Zero values stand for the defaults named.
type Options struct {
	Seed           uint64
	Net            simnet.Config // 250 µs and up to 250 µs of jitter
	ConnectTimeout time.Duration // socket.connection.setup.timeout.ms: 10 s
	CallbackCost   time.Duration // what every callback costs: 2 µs
	// VerifyBodies encodes every message a second time, after Send, and stops
	// the run if its bytes changed. Messages with regions are always verified.
	VerifyBodies bool
	// Debug lets a node's panic through, for its Go stack, in place of a Failure.
	Debug bool
	// Journal, if set, is called after every World event.
	Journal func(Entry)
}

const (
	defaultBase    = 250 * time.Microsecond
	defaultConnect = 10 * time.Second
	defaultCost    = 2 * time.Microsecond
	// A post takes 1 to 9 µs: a wake-up of another thread.
	postBase, postJitter = 1000, 8000
	// verifyAfter is when a sent body is looked at again.
	verifyAfter = nanosPerMilli
	// sweepAbove is how many dead timers are worth a rebuild of the queue.
	sweepAbove = 1024
)

// World is one simulated cluster. It is not safe for concurrent use, and many
// may run side by side.
type World struct {
	opts  Options
	now   int64
	seq   uint64
	queue queue
	stale int // timers in the queue that will not fire, about

	machines  []*machine
	lanes     []*lane
	listeners map[string]listener
	net       *simnet.Net
	sockets   []socket
	cuts      []cutLink

	posts  slots[post]
	emits  slots[emitted]
	writes slots[write]
	syncs  slots[syncing]
	dooms  slots[ending]
	sites  map[string]*stream // of the run itself

	running     *lane // whose callback runs
	start, cost int64 // of the running callback or socket write, ns
	dispatching bool
	next        *lane // runs as soon as the present event is handled

	observers []func(*event.Event)
	traced    uint64 // trace events so far
	digest    event.Digest
	stats     Stats
	claims    map[replicaKey]kafka.Offset
	failure   *Failure
	halted    bool

	scratch []byte      // encoding buffer
	holes   []wire.Hole // of what it holds
	chunk   []byte      // small frames are cut from it

	inflater record.Inflater // of what it reads from disks
}

// New returns a World without nodes, at instant 0.
func New(o Options) *World {
	if o.Net == (simnet.Config{}) {
		o.Net = simnet.Config{Base: int64(defaultBase), Jitter: int64(defaultBase)}
	}
	if o.ConnectTimeout == 0 {
		o.ConnectTimeout = defaultConnect
	}
	if o.CallbackCost == 0 {
		o.CallbackCost = defaultCost
	}
	w := &World{opts: o, sites: map[string]*stream{}, listeners: map[string]listener{}, claims: map[replicaKey]kafka.Offset{}}
	w.net = simnet.New(o.Net, (*wires)(w))
	return w
}

// Now is the instant that the run has reached, in ns.
func (w *World) Now() int64 { return w.now }

// Seed is the run's seed.
func (w *World) Seed() uint64 { return w.opts.Seed }

// Rand draws from a stream of the run itself.
func (w *World) Rand(site string) uint64 {
	s := w.sites[site]
	if s == nil {
		s = &stream{key: streamKey(w.opts.Seed, -1, 0, uint8(node.Outside), site)}
		w.sites[site] = s
	}
	return s.next()
}

// Stats counts what a run did.
type Stats struct {
	Events    uint64 // World events
	Callbacks uint64 // of all lanes
	Messages  uint64 // delivered
	Bytes     uint64 // of those messages
	Faults    [FaultKinds]FaultCount
}

// Stats returns the counts so far. A fault of a disk counts as effective when the
// disk says so: an operation waited or failed, or somebody read other bytes.
func (w *World) Stats() Stats {
	s := w.stats
	s.Messages, s.Bytes = w.net.Messages(), w.net.Bytes()
	for _, m := range w.machines {
		if m.disk != nil {
			s.addDisk(m.disk.Stats())
		}
	}
	return s
}

// Post gives a lane of a running node a value from node.Outside, now.
func (w *World) Post(id kafka.BrokerID, to node.Lane, msg any) error {
	m, err := w.machine(id)
	if err != nil {
		return err
	}
	if !m.alive {
		return nil
	}
	l := m.lane(to)
	if l == nil {
		return noLane(m, to.String())
	}
	w.schedule(entry{at: w.now, kind: evPost, lane: l.index, life: m.life,
		x: w.posts.put(post{from: node.Outside, value: msg})})
	return nil
}

func (w *World) schedule(e entry) {
	w.seq++
	e.seq = w.seq
	w.queue.push(e)
}

// Step runs the next event and reports whether there was one; a failed run has
// none.
func (w *World) Step() bool {
	if w.failure != nil || len(w.queue.heap) == 0 {
		return false
	}
	w.halted = false
	w.drive(math.MaxInt64, 1)
	return true
}

// Run runs every event up to the instant until, in ns, and goes there. It
// returns false if it stopped before: by Halt, or because an invariant broke.
func (w *World) Run(until int64) bool {
	w.halted = false
	for w.failure == nil && !w.halted && w.drive(until, math.MaxInt) {
	}
	if w.failure != nil || w.halted {
		return false
	}
	w.now = max(w.now, until)
	return true
}

// Halt makes Run return after the present event. An observer may call it.
func (w *World) Halt() { w.halted = true }

// drive runs at most count events. It returns true if it must be called again:
// a callback was cut short by a panic and everything else goes on.
func (w *World) drive(until int64, count int) (again bool) {
	defer w.contain(&again)
	for ; count > 0 && len(w.queue.heap) > 0 && w.queue.heap[0].at <= until && !w.halted; count-- {
		w.handle(w.queue.pop())
	}
	return false
}

// handle runs one event and the callback that it makes possible.
func (w *World) handle(e entry) {
	if w.isVoid(&e) {
		w.stale--
		return
	}
	w.now = e.at
	w.stats.Events++
	w.digest.Uint64(uint64(e.at))
	w.digest.Uint64(uint64(e.kind) | uint64(e.lane)<<8 | uint64(e.life)<<32)
	w.digest.Uint64(e.x)
	w.dispatching = true
	w.dispatch(&e)
	w.dispatching = false
	if l := w.next; l != nil {
		w.next = nil
		w.runLane(l)
	}
	if w.opts.Journal != nil {
		w.journal(&e)
	}
}

// isVoid recognises the timers that were cancelled or whose process is gone.
// They are no events: when they leave the queue depends on the sweeps.
func (w *World) isVoid(e *entry) bool {
	if e.kind != evTimer {
		return false
	}
	l := w.lanes[e.lane]
	return !l.lives(e.life) || !l.timers.isSet(node.TimerID(e.x))
}

func (w *World) dispatch(e *entry) {
	switch e.kind {
	case evWake:
		l := w.lanes[e.lane]
		if l.lives(e.life) {
			l.woken = false
			w.offer(l)
		}
	case evPump:
		w.pump(simnet.Pipe(e.x))
	case evExpire:
		w.expire(simnet.Conn(e.x))
	case evWrite:
		w.writeSocket(e.x)
	case evVerify:
		w.verifyBody(e.x)
	case evPost:
		p := w.posts.take(e.x)
		if l := w.lanes[e.lane]; l.lives(e.life) {
			w.deliver(l, mail{kind: mailPosted, from: p.from, value: p.value})
		}
	case evTimer:
		w.deliver(w.lanes[e.lane], mail{kind: mailFire, x: e.x})
	case evSync:
		w.finishSync(e)
	case evEmit:
		w.publish(e)
	case evDie:
		how := w.dooms.take(e.x)
		if m := w.machines[e.lane]; m.alive && m.life == e.life {
			w.die(m, how)
		}
	case evBoot:
		if m := w.machines[e.lane]; !m.alive {
			w.boot(m)
		}
	}
}

// sweepTimers rebuilds the queue once most of it is timers that were cancelled:
// every request sets a timeout, and nearly every one is taken back.
func (w *World) sweepTimers() {
	if w.stale < sweepAbove || w.stale < len(w.queue.heap)/2 {
		return
	}
	w.queue.sweep(func(e *entry) bool { return !w.isVoid(e) })
	w.stale = 0
}
