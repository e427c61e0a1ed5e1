package sim

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/model/event"
	"tidemark/net/simnet"
	"tidemark/net/wire"
	"tidemark/node"
)

// connEnd is a lane's end of a connection.
type connEnd struct {
	open    bool // the lane may still be called for it
	side    simnet.Side
	inWork  bool   // acceptor: a request waits for Send or Release
	key     int16  // of the request in work
	id      int32  // its correlation id
	frame   []byte // that it came in, if it may be used again after the answer
	net     simnet.Conn
	pending wire.Pending // dialler
}

// socket is what the World knows of a connection, by simnet's slot.
type socket struct {
	addr  string // that was dialled
	to    int32  // the node behind it at the dial
	owner [2]owner
}

// owner is the lane at one end. conn is 0 while an acceptor has heard nothing.
type owner struct {
	lane *lane
	life uint32
	conn node.ConnID
}

// conn is the lane's end of a connection that it may be called for, or nil. It
// is valid until the next connection is made.
func (l *lane) conn(id node.ConnID) *connEnd {
	if i := int(id) - 1; i >= 0 && i < len(l.ends) && l.ends[i].open {
		return &l.ends[i]
	}
	return nil
}

func (l *lane) open(c simnet.Conn, side simnet.Side) node.ConnID {
	l.ends = append(l.ends, connEnd{open: true, side: side, net: c})
	return node.ConnID(len(l.ends))
}

// forget ends all calls for a connection.
func (l *lane) forget(id node.ConnID) { l.ends[id-1] = connEnd{} }

// spoiled is what the World leaves in the frame of an answered Produce: whoever
// still has an alias of its records shows it.
const spoiled = 0xA5

// finish ends the request in work.
func (c *connEnd) finish(l *lane, id node.ConnID) {
	if c.side != simnet.Acceptor || !c.inWork {
		panic(fmt.Sprintf("%v of node %d answers or releases connection %d, which has no request in work", l.id, l.m.cfg.ID, id))
	}
	c.inWork = false
	for i := range c.frame {
		c.frame[i] = spoiled
	}
	c.frame = nil
}

// nowhere is the node behind an address at which nobody ever listened.
const nowhere = -1

func (w *World) dial(l *lane, addr string) node.ConnID {
	from, to := int32(l.m.cfg.ID), int32(nowhere)
	if x, ok := w.listeners[addr]; ok {
		to = int32(x.machine.cfg.ID)
	}
	key := streamKey(w.opts.Seed, from, l.m.life, uint8(l.id), "dial") + uint64(len(l.ends))<<1
	c := w.net.Dial(from, to, w.stamp(), key)
	for c.Slot() >= len(w.sockets) {
		w.sockets = append(w.sockets, socket{})
	}
	id := l.open(c, simnet.Dialler)
	w.sockets[c.Slot()] = socket{addr: addr, to: to, owner: [2]owner{simnet.Dialler: {l, l.m.life, id}}}
	w.schedule(entry{at: w.stamp() + int64(w.opts.ConnectTimeout), kind: evExpire, x: uint64(c)})
	return id
}

// expire ends a dial that nothing answered.
func (w *World) expire(c simnet.Conn) {
	if w.net.Expire(c) {
		w.disconnect(c, simnet.Dialler)
	}
}

// pump moves one connection on and brings what arrives to its lane.
func (w *World) pump(p simnet.Pipe) {
	c, to := p.Conn(), p.From().Other()
	switch arrival, frame := w.net.Pump(p, w.now); arrival {
	case simnet.Request:
		w.accept(c)
	case simnet.Closed:
		w.disconnect(c, to)
	case simnet.Data:
		w.digest.Bytes(frame)
		o := &w.sockets[c.Slot()].owner[to]
		if to == simnet.Acceptor {
			w.receiveRequest(c, o, frame)
		} else {
			w.receiveResponse(c, o, frame)
		}
	}
}

// accept answers a dial by who listens now.
func (w *World) accept(c simnet.Conn) {
	s := &w.sockets[c.Slot()]
	x, ok := w.listeners[s.addr]
	if !ok || int32(x.machine.cfg.ID) != s.to || !x.machine.alive || x.life != x.machine.life {
		w.net.Refuse(c, w.now)
		return
	}
	s.owner[simnet.Acceptor] = owner{lane: x.machine.lane(x.lane), life: x.life}
	w.net.Accept(c, w.now)
}

// receiveRequest brings a request to its lane. One that Kafka would not
// understand ends the connection, as it does there.
func (w *World) receiveRequest(c simnet.Conn, o *owner, frame []byte) {
	m, err := wire.DecodeRequest(frame)
	if err != nil {
		w.garbled(c, simnet.Acceptor, err)
		return
	}
	if o.conn == 0 {
		o.conn = o.lane.open(c, simnet.Acceptor)
	}
	end := o.lane.conn(o.conn)
	end.inWork, end.key, end.id = true, m.Key(), m.CorrelationID
	if end.key == int16(kmsg.Produce) {
		end.frame = frame
	}
	w.deliver(o.lane, mail{kind: mailReceive, x: uint64(o.conn), message: m})
}

func (w *World) receiveResponse(c simnet.Conn, o *owner, frame []byte) {
	end := o.lane.conn(o.conn)
	m, err := end.pending.Decode(frame)
	if err != nil {
		w.garbled(c, simnet.Dialler, err)
		return
	}
	w.deliver(o.lane, mail{kind: mailReceive, x: uint64(o.conn), message: m})
}

// garbled ends a connection that carried a frame its receiver cannot read.
func (w *World) garbled(c simnet.Conn, side simnet.Side, err error) {
	o := w.sockets[c.Slot()].owner[side]
	e := event.New(event.Effect)
	e.Node, e.Text = o.lane.m.cfg.ID, err.Error()
	w.trace(&e)
	w.net.Abort(c, side, w.now)
	w.disconnect(c, side)
}

// disconnect tells a lane that its end is gone, if it lives and knows of it.
func (w *World) disconnect(c simnet.Conn, side simnet.Side) {
	o := w.sockets[c.Slot()].owner[side]
	if o.conn != 0 && o.lane.lives(o.life) {
		w.deliver(o.lane, mail{kind: mailDisconnected, x: uint64(o.conn)})
	}
}

// send puts a message into its connection at the stamp. The frame is made now;
// regions are read at the socket write, an event of its own.
func (w *World) send(l *lane, id node.ConnID, m *node.Message) {
	c := l.conn(id)
	if c == nil {
		release(m.Regions)
		return
	}
	response := c.side == simnet.Acceptor
	if response {
		c.checkAnswer(l, id, m)
		c.finish(l, id)
	} else if m.Request == nil {
		panic(fmt.Sprintf("%v of node %d sends no request on connection %d, which it dialled", l.id, l.m.cfg.ID, id))
	}
	if !w.net.Holds(c.net, c.side) {
		release(m.Regions)
		return
	}
	if !response {
		c.pending.Sent(m)
	}
	if len(m.Regions) > 0 {
		w.reserve(l, c, m)
		return
	}
	stamp := w.stamp()
	frame := w.encode(m)
	w.net.Send(c.net, c.side, stamp, frame, m.Key(), response)
	if response {
		w.net.Resume(c.net, stamp)
	}
	if w.opts.VerifyBodies {
		w.schedule(entry{at: stamp + verifyAfter, kind: evVerify, lane: l.index, life: l.m.life,
			x: w.writes.put(write{lane: l, message: m, sum: sum(frame)})})
	}
}

// checkAnswer holds the answerer to the request in work.
func (c *connEnd) checkAnswer(l *lane, id node.ConnID, m *node.Message) {
	if m.Response == nil || c.inWork && (m.CorrelationID != c.id || m.Key() != c.key) {
		panic(fmt.Sprintf("%v of node %d answers connection %d with something other than the response to its request (key %d, correlation id %d)",
			l.id, l.m.cfg.ID, id, c.key, c.id))
	}
}

func release(regions []disk.Region) {
	for _, r := range regions {
		r.Release()
	}
}
