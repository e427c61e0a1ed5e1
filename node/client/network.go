package client

import (
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// NetworkConfig is how a client treats its connections.
type NetworkConfig struct {
	// ClientID goes into every request header.
	ClientID string
	// RequestTimeout is how long a call may take from Send to its answer. One
	// that takes longer costs the connection, as a late answer could not be
	// told from a lost one.
	RequestTimeout time.Duration
	// Setup bounds the time from Dial to the answer to ApiVersions.
	Setup Backoff
	// Reconnect spaces attempts to connect to one node.
	Reconnect Backoff
	// MaxInFlight bounds the unanswered calls on one connection, from 1.
	MaxInFlight int
}

// call is one request and what becomes of its answer.
type call struct {
	// Request is encoded in the highest version that both sides speak.
	Request kmsg.Request
	// MaxVersion lowers that version; 0 leaves it.
	MaxVersion int16
	// NoAnswer says that the broker will not answer: Produce with acks=0. The
	// call is done once it was sent.
	NoAnswer bool
	// Done runs exactly once, unless the network is closed before. With None
	// the answer is set (nil after NoAnswer). Other codes: NetworkException
	// (the connection broke), RequestTimedOut, UnsupportedVersion. Unless the
	// code is UnsupportedVersion, the broker may have done what was asked.
	Done func(answer kmsg.Response, code kafka.ErrorCode)
}

// network keeps at most one connection to each node of a cluster, agrees on
// versions with ApiVersions, bounds what is in flight, times calls out and
// spaces reconnects. It is what Kafka calls NetworkClient.
type network struct {
	env    node.Env
	timers *node.Timers
	cfg    NetworkConfig
	peers  map[kafka.BrokerID]*peer
	conns  map[node.ConnID]*peer
	lastID int32 // correlation id of the last request
	// onReady runs after a connection's set-up; onBroken after a connection
	// broke, before its calls end.
	onReady, onBroken func()
}

// newNetwork returns a network without nodes.
func newNetwork(env node.Env, timers *node.Timers, cfg NetworkConfig, onReady, onBroken func()) *network {
	return &network{env: env, timers: timers, cfg: cfg, onReady: onReady, onBroken: onBroken,
		peers: map[kafka.BrokerID]*peer{}, conns: map[node.ConnID]*peer{}}
}

// SetAddr says that node id is at host:port addr. A connection to another
// address is given up.
func (n *network) SetAddr(id kafka.BrokerID, addr string) {
	p := n.peers[id]
	if p == nil {
		n.peers[id] = &peer{id: id, addr: addr}
		return
	}
	if p.addr != addr {
		p.addr = addr
		p.failures, p.retryAt = 0, 0
		n.drop(p)
	}
}

// Ready reports whether a call to id would be sent at once. If not, and the
// reconnect back-off allows it, it begins to connect.
func (n *network) Ready(id kafka.BrokerID) bool {
	p := n.peers[id]
	if p == nil {
		return false
	}
	if p.conn == 0 && n.env.Now() >= p.retryAt {
		n.connect(p)
	}
	return p.ready && len(p.inflight) < n.cfg.MaxInFlight
}

// Connected reports whether the connection to id is up and its versions known.
func (n *network) Connected(id kafka.BrokerID) bool {
	p := n.peers[id]
	return p != nil && p.ready
}

// Usable reports whether id is connected, connecting, or may be connected to.
func (n *network) Usable(id kafka.BrokerID) bool {
	p := n.peers[id]
	return p != nil && (p.conn != 0 || n.env.Now() >= p.retryAt)
}

// RetryAt is the earliest instant at which id may be connected to.
func (n *network) RetryAt(id kafka.BrokerID) time.Duration {
	if p := n.peers[id]; p != nil {
		return p.retryAt
	}
	return 0
}

// Send sends a call to id, once the connection is up and its window has room.
// An id without address ends it with NetworkException.
func (n *network) Send(id kafka.BrokerID, c call) {
	p := n.peers[id]
	if p == nil {
		c.Done(nil, kafka.NetworkException)
		return
	}
	p.pending = append(p.pending, outgoing{call: c, deadline: n.env.Now() + n.cfg.RequestTimeout})
	n.pump(p)
}

// Receive takes an answer and reports whether conn is one of n's.
func (n *network) Receive(conn node.ConnID, m *node.Message) bool {
	p := n.conns[conn]
	if p == nil {
		return false
	}
	if len(p.inflight) == 0 || p.inflight[0].id != m.CorrelationID || m.Response == nil {
		n.abandon(p, kafka.NetworkException)
		return true
	}
	c := p.inflight[0]
	p.inflight = p.inflight[1:]
	c.Done(m.Response, kafka.None)
	n.pump(p)
	return true
}

// Disconnected takes the end of a connection and reports whether conn was one
// of n's.
func (n *network) Disconnected(conn node.ConnID) bool {
	p := n.conns[conn]
	if p == nil {
		return false
	}
	n.lost(p, kafka.NetworkException)
	return true
}

// Close closes every connection. Calls that are not done are never done.
func (n *network) Close() {
	for _, p := range n.sortedPeers() {
		if p.conn != 0 {
			n.env.Close(p.conn)
		}
		n.timers.Cancel(p.timer)
		*p = peer{id: p.id, addr: p.addr}
	}
	clear(n.peers)
	clear(n.conns)
}

// transmit puts a call on the wire of a connection that is up.
func (n *network) transmit(p *peer, c outgoing) {
	limit := c.MaxVersion
	if limit == 0 {
		limit = math.MaxInt16
	}
	v, ok := negotiate(c.Request, p.versions, limit)
	if !ok {
		c.Done(nil, kafka.UnsupportedVersion)
		return
	}
	n.write(p, c, v)
	if c.NoAnswer {
		c.Done(nil, kafka.None)
	}
}

func (n *network) write(p *peer, c outgoing, version int16) {
	n.lastID++
	c.id = n.lastID
	c.Request.SetVersion(version)
	n.env.Send(p.conn, &node.Message{CorrelationID: c.id, ClientID: n.cfg.ClientID, Request: c.Request})
	if !c.NoAnswer {
		p.inflight = append(p.inflight, c)
		n.watch(p)
	}
}
