package simnet

// Config is the shape of every link, in ns.
type Config struct {
	Base   int64 // shortest one-way delay
	Jitter int64 // a draw from [0, Jitter] is added to each message
}

// Side is one end of a connection.
type Side uint8

// The two sides.
const (
	Dialler Side = iota
	Acceptor
)

// Other is the opposite side.
func (s Side) Other() Side { return s ^ 1 }

// Conn names a connection; never reused. 0 names none.
type Conn uint64

// Slot is a small number that is unique among living connections, for tables
// beside the network's own.
func (c Conn) Slot() int { return int(uint32(c)) - 1 }

// Pipe names one direction of a connection: what From sends.
type Pipe uint64

// Pipe is the direction in which side sends.
func (c Conn) Pipe(side Side) Pipe { return Pipe(c)<<1 | Pipe(side) }

// Conn is the connection of a pipe.
func (p Pipe) Conn() Conn { return Conn(p >> 1) }

// From is the side that sends into the pipe.
func (p Pipe) From() Side { return Side(p & 1) }

// Host is the driver.
type Host interface {
	// Wake asks for Pump(p, at) at that instant.
	Wake(p Pipe, at int64)
	// Draw gives the n-th random number of a stream.
	Draw(stream, n uint64) uint64
	// Gone tells that an open end is gone by a fault, at once.
	Gone(c Conn, side Side)
	// Effect tells that a fault made a difference, each time that it does.
	Effect(kind Fault, from, to int32)
}

// Fault is a kind of network fault.
type Fault uint8

// The faults.
const (
	Cut Fault = iota
	Hold
	Fail
	Reset
	HalfOpen
)

// Net is all connections and links.
type Net struct {
	cfg   Config
	host  Host
	conns []conn
	free  []int32 // slots
	links []link  // those that are cut
	rules []rule  // armed holds and failures
	off   []int32 // nodes without power

	messages, bytes uint64
}

type link struct{ from, to int32 }

// New returns a network without connections.
func New(cfg Config, host Host) *Net { return &Net{cfg: cfg, host: host} }

// Messages is the number of messages delivered so far, and Bytes their size.
func (n *Net) Messages() uint64 { return n.messages }

// Bytes is the size of the messages delivered so far.
func (n *Net) Bytes() uint64 { return n.bytes }

// Living is the number of connections that at least one end still holds.
func (n *Net) Living() int { return len(n.conns) - len(n.free) }

type kind uint8

const (
	data kind = iota
	syn
	synAck
	fin
	rst
)

// segment is one message, or one sign of TCP's, on its way.
type segment struct {
	kind     kind
	response bool
	held     bool
	passed   bool // was held before: no rule catches it twice
	key      int16
	stamp    int64 // when the sender handed it over
	written  int64 // when its bytes were complete; -1: not yet
	delay    int64
	frame    []byte
}

type pipe struct {
	queue []segment
	head  int   // of queue
	first int64 // ordinal of queue[head]
	open  int64 // nothing travels before this instant
	floor int64 // nothing arrives before this instant
	armed int64 // instant of the wake that is outstanding; -1: none
	drawn uint64
	muted bool
}

type end struct {
	node   int32
	open   bool // its process holds it
	silent bool // closed, and the peer was not told
}

type conn struct {
	id          Conn
	stream      uint64
	established bool
	ends        [2]end
	pipes       [2]pipe
}

// Dial opens a connection at stamp; stream keys its random delays. Messages may
// be sent at once and travel when the connection stands.
func (n *Net) Dial(from, to int32, stamp int64, stream uint64) Conn {
	slot := len(n.conns)
	if l := len(n.free); l > 0 {
		slot = int(n.free[l-1])
		n.free = n.free[:l-1]
	} else {
		n.conns = append(n.conns, conn{id: Conn(slot + 1)})
	}
	c := &n.conns[slot]
	c.stream = stream
	c.ends = [2]end{{node: from, open: true}, {node: to}}
	for s := range c.pipes {
		p := &c.pipes[s]
		*p = pipe{queue: p.queue[:0], armed: -1}
	}
	n.push(c, Dialler, segment{kind: syn, stamp: stamp, written: stamp})
	return c.id
}

// at returns a living connection, or nil.
func (n *Net) at(id Conn) *conn {
	if s := id.Slot(); s >= 0 && s < len(n.conns) && n.conns[s].id == id && n.conns[s].alive() {
		return &n.conns[s]
	}
	return nil
}

func (c *conn) alive() bool { return c.ends[Dialler].open || c.ends[Acceptor].open }

// drop ends a connection of which nobody needs to hear any more. Its slot is
// reused, its name is not: the generation in the upper half moves on.
func (n *Net) drop(c *conn) {
	for s := range c.pipes {
		c.ends[s].open = false
		clear(c.pipes[s].queue)
		c.pipes[s].queue = c.pipes[s].queue[:0]
		c.pipes[s].head = 0
	}
	c.established = false
	n.free = append(n.free, int32(c.id.Slot()))
	c.id += 1 << 32
}

// Holds tells whether side's process still has its end of the connection.
func (n *Net) Holds(id Conn, side Side) bool {
	c := n.at(id)
	return c != nil && c.ends[side].open
}

func (n *Net) push(c *conn, from Side, s segment) {
	p := &c.pipes[from]
	s.delay = n.cfg.Base
	if n.cfg.Jitter > 0 {
		s.delay += int64(n.host.Draw(c.stream+uint64(from), p.drawn) % uint64(n.cfg.Jitter+1))
	}
	p.drawn++
	if p.head > 0 && len(p.queue) == cap(p.queue) {
		m := copy(p.queue, p.queue[p.head:])
		clear(p.queue[m:])
		p.queue, p.head = p.queue[:m], 0
	}
	p.queue = append(p.queue, s)
	if len(p.queue)-p.head == 1 {
		n.arm(c, from)
	}
}

func (p *pipe) empty() bool { return p.head == len(p.queue) }

// due is when the head would arrive; false if something other than time holds
// it back.
func (c *conn) due(from Side) (int64, bool) {
	p := &c.pipes[from]
	if p.empty() || p.muted {
		return 0, false
	}
	s := &p.queue[p.head]
	if s.written < 0 || s.held || !c.established && s.kind != syn && s.kind != synAck && from == Dialler {
		return 0, false
	}
	return max(max(s.written, p.open)+s.delay, p.floor), true
}

// arm asks to be woken for the head of a pipe.
func (n *Net) arm(c *conn, from Side) {
	p := &c.pipes[from]
	at, ok := c.due(from)
	if ok && (p.armed < 0 || p.armed > at) {
		p.armed = at
		n.host.Wake(c.id.Pipe(from), at)
	}
}
