package live

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tidemark/disk/osdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/net/tcp"
	"tidemark/node"
)

// Options are what a node's life takes besides its lanes.
type Options struct {
	// Dir is the log directory; "" is allowed if no lane has a disk.
	Dir string
	// Seed keys every random stream. Each life needs one of its own, or a node
	// draws the ids of its last life again; 0 asks the operating system.
	Seed uint64
	// Emit takes the node's events in order, one at a time; the event is the
	// sink's to keep. It must not wait for the node. nil drops them.
	Emit func(e *event.Event)
	// Wants tells which kinds of events Emit takes; nil stands for all.
	Wants func(event.Kind) bool
	// Clock is the node's clocks; nil is the real ones.
	Clock Clock
	// Net bounds the connections.
	Net tcp.Config
	// Record takes everything that the lanes are given and do; nil records nothing.
	Record *Recorder
	// Config is what a replay needs to build the node's lanes again, in words of
	// the caller's.
	Config []byte
}

// Clock reads a node's monotonic clock, which begins near 0, and its wall clock
// at one instant. Lanes call it at the same time.
type Clock func() (now time.Duration, wall kafka.Timestamp)

// realClock begins now.
func realClock() Clock {
	start := time.Now()
	return func() (time.Duration, kafka.Timestamp) {
		t := time.Now()
		return t.Sub(start), kafka.Timestamp(t.UnixMilli())
	}
}

// Node is one running life.
type Node struct {
	id    kafka.BrokerID
	seed  uint64
	clock Clock
	disk  *osdisk.Disk // nil if no lane has a disk
	net   *tcp.Host
	lanes []*lane // by node.Lane; nil where the node has none
	crew  crew

	record *Recorder // nil records nothing
	life   int       // of this node in the recording

	dead    atomic.Bool
	dying   chan struct{}
	ending  sync.Once
	reason  string // set before dying closes
	epitaph string // Died's text
	done    chan struct{}

	tracing sync.Mutex
	sink    func(*event.Event)
	wanted  func(event.Kind) bool // nil: all
	seq     uint64
}

// Start boots a node. The error is one line about its directory or an address
// that it cannot listen at, and nothing of it is left then.
func Start(spec node.Spec, o Options) (*Node, error) {
	n := &Node{id: spec.ID, seed: o.Seed, clock: o.Clock, sink: o.Emit, wanted: o.Wants, net: tcp.New(o.Net), record: o.Record,
		dying: make(chan struct{}), done: make(chan struct{}), crew: newCrew(len(spec.Lanes))}
	if n.seed == 0 {
		n.seed = entropy()
	}
	if n.clock == nil {
		n.clock = realClock()
	}
	if err := n.open(spec, o.Dir); err != nil {
		return nil, fmt.Errorf("start node %d: %w", n.id, err)
	}
	for _, s := range spec.Lanes {
		n.add(s)
	}
	for _, s := range spec.Listen {
		if err := n.listen(s); err != nil {
			n.release()
			return nil, fmt.Errorf("start node %d: %w", n.id, err)
		}
	}
	if n.record != nil {
		if err := n.recordBoot(o.Config); err != nil {
			n.release()
			return nil, fmt.Errorf("start node %d: %w", n.id, err)
		}
	}
	n.boot(spec)
	return n, nil
}

func entropy() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// open takes the directory if a lane needs one.
func (n *Node) open(spec node.Spec, dir string) error {
	if !slices.ContainsFunc(spec.Lanes, func(s node.LaneSpec) bool { return s.Disk }) {
		return nil
	}
	if dir == "" {
		return errors.New("it has lanes with a disk and no log directory: name one")
	}
	var err error
	n.disk, err = osdisk.Open(dir)
	return err
}

func (n *Node) add(s node.LaneSpec) {
	for int(s.Lane) >= len(n.lanes) {
		n.lanes = append(n.lanes, nil)
	}
	n.lanes[s.Lane] = newLane(n, s)
}

// lane returns a lane, or nil.
func (n *Node) lane(id node.Lane) *lane {
	if int(id) < len(n.lanes) {
		return n.lanes[id]
	}
	return nil
}

func (n *Node) listen(s node.ListenSpec) error {
	l := n.lane(s.Lane)
	if l == nil {
		panic(fmt.Sprintf("live: node %d listens at %s with lane %v, which it does not have", n.id, s.Addr, s.Lane))
	}
	return n.net.Listen(s.Addr, func(c tcp.Conn) tcp.Handler { return &peer{lane: l, conn: c} })
}

// boot starts the crew. Start calls go one after another in the order of the spec.
func (n *Node) boot(spec node.Spec) {
	e := event.New(event.Boot)
	n.trace(&e)
	var running sync.WaitGroup
	for i := range spec.Lanes {
		running.Go(func() {
			w := &worker{crew: &n.crew}
			for k := 0; i == 0 && k < len(spec.Lanes); k++ {
				n.lanes[spec.Lanes[k].Lane].start(w)
			}
			w.run()
		})
	}
	go func() {
		<-n.dying
		n.net.Close()
		running.Wait()
		for _, s := range spec.Lanes {
			n.lanes[s.Lane].stop()
		}
		n.recordEnd()
		n.release()
		e := event.New(event.Died)
		e.Text = n.epitaph
		n.trace(&e)
		close(n.done)
	}()
}

// release gives sockets and directory up.
func (n *Node) release() {
	n.net.Close()
	if n.disk != nil {
		n.disk.Close()
	}
}

// Post gives a lane a value from node.Outside. A node that is dead drops it; the
// error is about a lane that the node does not have.
func (n *Node) Post(to node.Lane, msg any) error {
	l := n.lane(to)
	if l == nil {
		return fmt.Errorf("node %d has no lane %v", n.id, to)
	}
	if n.dead.Load() {
		return nil
	}
	l.put(input{kind: posted, from: node.Outside, value: msg})
	return nil
}

// Wait waits until the node is dead and has given everything up. The reason is
// the one that a lane gave to Exit, or Killed.
func (n *Node) Wait() (reason string) {
	<-n.done
	return n.reason
}

// Killed is the reason of a node that Kill ended.
const Killed = "killed"

// Kill ends the node as kill -9 would and waits until it has given everything
// up. Only a callback that is in a system call is waited for. It must not be
// called from Options.Emit.
func (n *Node) Kill() {
	n.end(Killed, "kill")
	<-n.done
}

// cleanExit is the reason with which nodes end a controlled shutdown.
const cleanExit = "controlled shutdown"

// exit is the death that a lane asked for.
func (n *Node) exit(reason string) {
	if reason == cleanExit {
		n.end(reason, "stop")
		return
	}
	n.end(reason, "exit: "+reason)
}

// end is the instant of death; the first one counts.
func (n *Node) end(reason, epitaph string) {
	n.ending.Do(func() {
		n.reason, n.epitaph = reason, epitaph
		n.dead.Store(true)
		close(n.dying)
		n.crew.close()
	})
}

// wants tells whether anybody takes an event.
func (n *Node) wants(k event.Kind) bool { return n.sink != nil && (n.wanted == nil || n.wanted(k)) }

// trace numbers an event and hands it to the sink.
func (n *Node) trace(e *event.Event) {
	if !n.wants(e.Kind) {
		return
	}
	n.tracing.Lock()
	defer n.tracing.Unlock()
	n.seq++
	now, _ := n.clock()
	e.Seq, e.At, e.Node = n.seq, int64(now), n.id
	n.sink(e)
}
