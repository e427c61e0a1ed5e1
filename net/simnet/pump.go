package simnet

// Arrival is what Pump found at the head of a pipe.
type Arrival uint8

// The arrivals.
const (
	Nothing Arrival = iota // not now
	Request                // a dial reached the acceptor's machine: Accept or Refuse
	Data                   // a message; the acceptor's pipe is muted until Resume
	Closed                 // the receiver's end is gone
)

// Pump moves the head of a pipe at an instant that Wake asked for. Frame is set
// for Data.
func (n *Net) Pump(id Pipe, now int64) (Arrival, []byte) {
	c := n.at(id.Conn())
	if c == nil || c.pipes[id.From()].armed != now {
		return Nothing, nil
	}
	from := id.From()
	p := &c.pipes[from]
	p.armed = -1
	at, ok := c.due(from)
	if !ok {
		return Nothing, nil
	}
	if at > now {
		n.arm(c, from)
		return Nothing, nil
	}
	if n.blocked(c, from, &p.queue[p.head]) {
		return Nothing, nil
	}
	s := p.pop(now)
	arrival := n.arrive(c, from, &s, now)
	if c.id == id.Conn() && c.alive() {
		n.arm(c, from)
	}
	return arrival, s.frame
}

// pop takes the head out; nothing behind it arrives before it.
func (p *pipe) pop(now int64) segment {
	p.floor = max(p.floor, now)
	s := p.queue[p.head]
	p.queue[p.head] = segment{}
	p.head++
	p.first++
	if p.empty() {
		p.queue, p.head = p.queue[:0], 0
	}
	return s
}

// arrive does at the receiver what a segment asks for.
func (n *Net) arrive(c *conn, from Side, s *segment, now int64) Arrival {
	to := &c.ends[from.Other()]
	switch s.kind {
	case syn:
		return Request
	case synAck:
		c.established = true
		c.pipes[Dialler].open = now
		n.arm(c, Dialler)
		return Nothing
	case fin, rst:
		if to.open {
			n.hangUp(c, from.Other())
			return Closed
		}
		return Nothing
	}
	if !to.open {
		n.answerReset(c, from.Other(), now)
		return Nothing
	}
	n.messages++
	n.bytes += uint64(len(s.frame))
	c.pipes[from].muted = from == Dialler
	return Data
}

// hangUp closes the end of a receiver that has read the end of the stream.
func (n *Net) hangUp(c *conn, side Side) {
	c.ends[side].open = false
	if !c.alive() {
		n.drop(c)
	}
}

// answerReset is the kernel's answer to data for a socket it does not know. An
// end that closed properly has told its peer already.
func (n *Net) answerReset(c *conn, side Side, now int64) {
	if e := &c.ends[side]; e.silent {
		e.silent = false
		n.push(c, side, segment{kind: rst, stamp: now, written: now})
	}
}
