package live

import (
	"errors"

	"tidemark/model/event"
	"tidemark/net/tcp"
	"tidemark/net/wire"
	"tidemark/node"
)

// peer is a lane's end of a connection. The socket's goroutines call it as its
// handler and only touch lane; id and over belong to the lane.
type peer struct {
	lane *lane
	conn tcp.Conn
	id   node.ConnID // 0 until an accepted connection brings its first request
	over bool        // no call for it follows
}

// Received implements tcp.Handler.
func (p *peer) Received(m *node.Message, frame []byte) {
	p.lane.bring(input{kind: received, peer: p, message: m, frame: frame})
}

// Lost implements tcp.Handler. That a connection broke for what was on it is
// worth a line in the trace; that it ended is not.
func (p *peer) Lost(cause error) {
	if errors.Is(cause, wire.ErrFrame) || errors.Is(cause, tcp.ErrRegion) || errors.Is(cause, tcp.ErrStalled) {
		e := event.New(event.Effect)
		e.Text = cause.Error()
		p.lane.n.trace(&e)
	}
	p.lane.put(input{kind: disconnected, peer: p})
}

// open makes a connection known to the lane.
func (l *lane) open(p *peer) node.ConnID {
	l.last++
	p.id = l.last
	l.peers[p.id] = p
	return p.id
}

// knows tells whether the lane may be called for p, and introduces it with the
// first request that it brings.
func (l *lane) knows(p *peer) bool {
	if p.id == 0 {
		l.open(p)
	}
	return !p.over
}

// forget ends all calls for p.
func (l *lane) forget(p *peer) {
	p.over = true
	delete(l.peers, p.id)
}
