package simnet

// Ticket names a message that was handed over before its bytes were complete.
type Ticket int64

// Send hands a whole message over at stamp. On an end that is gone it does
// nothing.
func (n *Net) Send(id Conn, from Side, stamp int64, frame []byte, key int16, response bool) {
	if c := n.at(id); c != nil && c.ends[from].open {
		n.push(c, from, segment{key: key, response: response, stamp: stamp, written: stamp, frame: frame})
	}
}

// Reserve keeps a message's place in the order; its bytes follow by Write.
func (n *Net) Reserve(id Conn, from Side, stamp int64, key int16, response bool) Ticket {
	c := n.at(id)
	if c == nil || !c.ends[from].open {
		return -1
	}
	p := &c.pipes[from]
	t := p.first + int64(len(p.queue)-p.head)
	n.push(c, from, segment{key: key, response: response, stamp: stamp, written: -1})
	return Ticket(t)
}

// Write gives a reserved message its bytes, complete at the instant at.
func (n *Net) Write(id Conn, from Side, t Ticket, frame []byte, at int64) {
	c := n.at(id)
	if c == nil || !c.ends[from].open {
		return
	}
	p := &c.pipes[from]
	s := &p.queue[p.head+int(int64(t)-p.first)]
	s.frame, s.written = frame, at
	n.arm(c, from)
}

// Resume lets the acceptor read its next request, from the instant at on.
func (n *Net) Resume(id Conn, at int64) {
	if c := n.at(id); c != nil {
		n.unmute(c, Dialler, at)
	}
}

func (n *Net) unmute(c *conn, from Side, at int64) {
	p := &c.pipes[from]
	p.muted = false
	p.floor = max(p.floor, at)
	n.arm(c, from)
}

// Close closes side's end at stamp: the peer learns it after all that was sent.
func (n *Net) Close(id Conn, side Side, stamp int64) {
	c := n.at(id)
	if c == nil || !c.ends[side].open {
		return
	}
	n.shut(c, side, segment{kind: fin, stamp: stamp, written: stamp})
}

// Abort closes side's end with a reset behind the messages that are complete:
// the writer could not finish one.
func (n *Net) Abort(id Conn, side Side, stamp int64) {
	c := n.at(id)
	if c == nil || !c.ends[side].open {
		return
	}
	c.pipes[side].keep(func(s *segment) bool { return s.written >= 0 })
	n.shut(c, side, segment{kind: rst, stamp: stamp, written: stamp})
}

// shut closes an open end and sends the peer the sign of it, if a peer is there
// to hear it.
func (n *Net) shut(c *conn, side Side, sign segment) {
	if !c.ends[side.Other()].open {
		n.drop(c)
		return
	}
	if !c.established && side == Dialler {
		n.drop(c) // the acceptor has not heard a word, and never will
		return
	}
	c.ends[side].open = false
	n.push(c, side, sign)
	n.unmute(c, side.Other(), sign.stamp)
}

// keep cuts the queue before the first segment that ok refuses.
func (p *pipe) keep(ok func(*segment) bool) {
	for i := p.head; i < len(p.queue); i++ {
		if !ok(&p.queue[i]) {
			clear(p.queue[i:])
			p.queue = p.queue[:i]
			return
		}
	}
}

// Accept answers the connection request that Pump delivered: the acceptor's
// process has the connection from now on.
func (n *Net) Accept(id Conn, now int64) {
	if c := n.at(id); c != nil {
		c.ends[Acceptor].open, c.ends[Acceptor].silent = true, false
		n.push(c, Acceptor, segment{kind: synAck, stamp: now, written: now})
	}
}

// Refuse answers it with a reset: nobody listens.
func (n *Net) Refuse(id Conn, now int64) {
	if c := n.at(id); c != nil {
		n.push(c, Acceptor, segment{kind: rst, stamp: now, written: now})
	}
}

// Expire gives up a dial that has had no answer and tells whether it had none.
func (n *Net) Expire(id Conn) bool {
	c := n.at(id)
	if c == nil || c.established {
		return false
	}
	n.drop(c)
	return true
}
