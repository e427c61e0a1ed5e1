package simnet

// rule waits for a message on a link: it holds it, or resets its connection.
type rule struct {
	link
	action   Fault // Hold or Fail
	response bool
	key      int16
	skip     int // matches that still pass
}

func (r *rule) matches(l link, s *segment) bool {
	return r.link == l && s.kind == data && r.key == s.key && r.response == s.response
}

// blocked tells whether a fault keeps the head of a pipe from arriving now.
func (n *Net) blocked(c *conn, from Side, s *segment) bool {
	l := link{c.ends[from].node, c.ends[from.Other()].node}
	if len(n.off) > 0 && n.isOff(l.to) {
		return true
	}
	if len(n.links) > 0 && n.isCut(l) {
		n.host.Effect(Cut, l.from, l.to)
		return true
	}
	for i := range n.rules {
		r := &n.rules[i]
		if s.passed || !r.matches(l, s) {
			continue
		}
		if r.skip > 0 {
			r.skip--
			continue
		}
		action := r.action
		n.rules = append(n.rules[:i], n.rules[i+1:]...)
		n.host.Effect(action, l.from, l.to)
		if action == Fail {
			n.sever(c)
		} else {
			s.held = true
		}
		return true
	}
	return false
}

func (n *Net) isCut(l link) bool {
	for _, c := range n.links {
		if c == l {
			return true
		}
	}
	return false
}

func (n *Net) isOff(node int32) bool {
	for _, o := range n.off {
		if o == node {
			return true
		}
	}
	return false
}

// Cut drops every packet from one node to another until Heal; false if the link
// is cut already.
func (n *Net) Cut(from, to int32) bool {
	if n.isCut(link{from, to}) {
		return false
	}
	n.links = append(n.links, link{from, to})
	return true
}

// Heal ends a cut; false if there is none. What waited arrives from now on.
func (n *Net) Heal(from, to int32, now int64) bool {
	for i, l := range n.links {
		if l == (link{from, to}) {
			n.links = append(n.links[:i], n.links[i+1:]...)
			n.wakeLink(l, now)
			return true
		}
	}
	return false
}

// wakeLink lets the heads of all pipes of a link try again, a delay from now.
func (n *Net) wakeLink(l link, now int64) {
	n.each(func(c *conn, from Side) {
		if c.ends[from].node == l.from && c.ends[from.Other()].node == l.to {
			c.pipes[from].floor = max(c.pipes[from].floor, now+n.cfg.Base)
			n.arm(c, from)
		}
	})
}

// each calls f for every pipe of every living connection, in order of slot. f
// may drop the connection.
func (n *Net) each(f func(c *conn, from Side)) {
	for i := range n.conns {
		for s := Dialler; s <= Acceptor; s++ {
			if c := &n.conns[i]; c.alive() {
				f(c, s)
			}
		}
	}
}

// Hold keeps the next message of an API key on a link, and with it everything
// behind it on its connection, until Release.
func (n *Net) Hold(from, to int32, key int16, response bool) {
	n.rules = append(n.rules, rule{link: link{from, to}, action: Hold, key: key, response: response})
}

// Fail resets the connection of the nth (from 1) message of an API key on a
// link, in place of its arrival.
func (n *Net) Fail(from, to int32, key int16, response bool, nth int) {
	n.rules = append(n.rules, rule{link: link{from, to}, action: Fail, key: key, response: response, skip: nth - 1})
}

// Release lets go what is held on a link and forgets the holds there that still
// wait for their message. It returns how many there were.
func (n *Net) Release(from, to int32, now int64) int {
	return n.release(func(l link) bool { return l == link{from, to} }, now)
}

// ReleaseAll does that on every link.
func (n *Net) ReleaseAll(now int64) int {
	return n.release(func(link) bool { return true }, now)
}

func (n *Net) release(meant func(link) bool, now int64) int {
	released, kept := 0, n.rules[:0]
	for _, r := range n.rules {
		if r.action == Hold && meant(r.link) {
			released++
			continue
		}
		kept = append(kept, r)
	}
	n.rules = kept
	n.each(func(c *conn, side Side) {
		p := &c.pipes[side]
		if p.empty() || !p.queue[p.head].held || !meant(link{c.ends[side].node, c.ends[side.Other()].node}) {
			return
		}
		s := &p.queue[p.head]
		s.held, s.passed = false, true
		p.floor = max(p.floor, now+n.cfg.Base)
		released++
		n.arm(c, side)
	})
	return released
}

// Reset kills every connection between two nodes: both ends learn it at once,
// what has not arrived is lost. It returns how many connections there were.
func (n *Net) Reset(a, b int32) int {
	hit := 0
	n.each(func(c *conn, side Side) {
		if c.between(a, b) {
			if hit++; hit == 1 {
				n.host.Effect(Reset, a, b)
			}
			n.sever(c)
		}
	})
	return hit
}

func (c *conn) between(a, b int32) bool {
	x, y := c.ends[0].node, c.ends[1].node
	return x == a && y == b || x == b && y == a
}

// sever drops a connection and tells the ends that are open.
func (n *Net) sever(c *conn) {
	id, open := c.id, [2]bool{c.ends[0].open, c.ends[1].open}
	n.drop(c)
	for s := Dialler; s <= Acceptor; s++ {
		if open[s] {
			n.host.Gone(id, s)
		}
	}
}

// HalfOpen takes gone's end of every standing connection with other away: gone
// learns it at once, other by the reset that answers its next message. It
// returns how many connections there were.
func (n *Net) HalfOpen(gone, other int32, now int64) int {
	hit := 0
	n.each(func(c *conn, side Side) {
		if c.ends[side].node != gone || c.ends[side.Other()].node != other || !c.established || !c.ends[side].open {
			return
		}
		if hit++; hit == 1 {
			n.host.Effect(HalfOpen, gone, other)
		}
		id := c.id
		n.vanish(c, side, now)
		n.host.Gone(id, side)
	})
	return hit
}

// vanish closes an end without telling the peer.
func (n *Net) vanish(c *conn, side Side, now int64) {
	c.ends[side].open = false
	c.ends[side].silent = true
	c.pipes[side].keep(func(*segment) bool { return false })
	if !c.alive() {
		n.drop(c)
		return
	}
	n.unmute(c, side.Other(), now)
}

// Kill ends a node's process at now: what it sent later never happened, and its
// kernel closes its connections.
func (n *Net) Kill(node int32, now int64) {
	n.each(func(c *conn, side Side) {
		e := &c.ends[side]
		if e.node != node || !e.open && !c.closesAfter(side, now) {
			return
		}
		c.pipes[side].keep(func(s *segment) bool { return s.stamp <= now && s.written >= 0 && s.written <= now })
		e.open = true
		n.shut(c, side, segment{kind: fin, stamp: now, written: now})
	})
}

// closesAfter tells whether side closed its end, but only after now.
func (c *conn) closesAfter(side Side, now int64) bool {
	p := &c.pipes[side]
	return !p.empty() && p.queue[len(p.queue)-1].kind != data && p.queue[len(p.queue)-1].stamp > now
}

// PowerOff takes a node's machine away at now. What is on the wire arrives, what
// its kernel would have sent again does not, and no peer is told.
func (n *Net) PowerOff(node int32, now int64) {
	if !n.isOff(node) {
		n.off = append(n.off, node)
	}
	n.each(func(c *conn, side Side) {
		e := &c.ends[side]
		if e.node != node {
			return
		}
		if !c.established && side == Dialler {
			n.drop(c)
			return
		}
		cut := n.isCut(link{node, c.ends[side.Other()].node})
		c.pipes[side].keep(func(s *segment) bool {
			return s.stamp <= now && s.written >= 0 && s.written <= now && s.kind != fin && (s.held || !cut)
		})
		e.open, e.silent = false, true
		c.pipes[side.Other()].muted = false
		if !c.alive() {
			n.drop(c)
		}
	})
}

// PowerOn brings the machine back: it answers what its peers send again.
func (n *Net) PowerOn(node int32, now int64) {
	for i, o := range n.off {
		if o == node {
			n.off = append(n.off[:i], n.off[i+1:]...)
			n.each(func(c *conn, from Side) {
				if c.ends[from.Other()].node == node {
					c.pipes[from].floor = max(c.pipes[from].floor, now+n.cfg.Base)
					n.arm(c, from)
				}
			})
			return
		}
	}
}

// Digest writes the network's state: every connection and every message on its
// way, faults included.
func (n *Net) Digest(number func(uint64), bytes func([]byte)) {
	for _, l := range n.links {
		number(uint64(uint32(l.from))<<32 | uint64(uint32(l.to)))
	}
	for _, r := range n.rules {
		number(uint64(uint32(r.from))<<32 | uint64(uint32(r.to)))
		number(uint64(uint16(r.key))<<32 | uint64(uint32(r.skip)))
	}
	for i := range n.conns {
		c := &n.conns[i]
		number(uint64(c.id))
		for s := range c.pipes {
			p := &c.pipes[s]
			number(uint64(p.floor))
			for j := p.head; j < len(p.queue); j++ {
				number(uint64(p.queue[j].written + p.queue[j].delay))
				bytes(p.queue[j].frame)
			}
		}
	}
}
