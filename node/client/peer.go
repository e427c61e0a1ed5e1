package client

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// peer is one node as its connection stands:
//
//	idle (conn 0) ── connect ──▶ set-up (conn, not ready) ── ApiVersions ──▶ ready
//	  ▲                              │ refused, timed out                     │ lost
//	  └──────────── back-off ────────┴────────────────────────────────────────┘
type peer struct {
	id   kafka.BrokerID
	addr string // host:port

	conn     node.ConnID // 0: none
	ready    bool
	versions map[int16]span // what the node speaks, by API key

	inflight []outgoing // sent, in order of their answers
	pending  []outgoing // waiting for the connection or the window

	failures    int           // connections in a row that did not get ready
	setupUntil  time.Duration // instant by which the set-up must be done
	lastAttempt time.Duration // instant of the last Dial
	retryAt     time.Duration // instant of the next permitted Dial
	timer       node.TimerID  // the one timer, 0 if none runs
	timerAt     time.Duration // when it is due
}

// outgoing is a call on its way.
type outgoing struct {
	call
	id       int32         // correlation id, once sent
	deadline time.Duration // instant of its timeout
}

func (n *network) sortedPeers() []*peer {
	all := make([]*peer, 0, len(n.peers))
	for _, p := range n.peers { // unordered: sorted below
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b *peer) int { return int(a.id) - int(b.id) })
	return all
}

// connect dials and asks for the node's versions, without which no other
// request can be written.
func (n *network) connect(p *peer) {
	now := n.env.Now()
	p.lastAttempt = now
	p.conn = n.env.Dial(p.addr)
	n.conns[p.conn] = p
	p.setupUntil = now + n.cfg.Setup.After(p.failures+1, n.env, "connection-setup")
	req := kmsg.NewPtrApiVersionsRequest()
	n.askVersions(p, ours(keyApiVersions, req.MaxVersion()).max)
}

func (n *network) askVersions(p *peer, version int16) {
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "tidemark", "1"
	c := outgoing{deadline: p.setupUntil}
	c.Request = req
	c.Done = func(answer kmsg.Response, code kafka.ErrorCode) {
		if code == kafka.None {
			n.gotVersions(p, version, answer.(*kmsg.ApiVersionsResponse))
		}
	}
	n.write(p, c, version)
}

// gotVersions ends the set-up. A node that does not speak the version that was
// asked says so in version 0 and lists what it speaks (KIP-511).
func (n *network) gotVersions(p *peer, asked int16, r *kmsg.ApiVersionsResponse) {
	theirs := make(map[int16]span, len(r.ApiKeys))
	for _, k := range r.ApiKeys {
		theirs[k.ApiKey] = span{k.MinVersion, k.MaxVersion}
	}
	code := kafka.ErrorCode(r.ErrorCode)
	if code == kafka.UnsupportedVersion && asked > 0 {
		n.askVersions(p, min(asked-1, theirs[keyApiVersions].max))
		return
	}
	if code != kafka.None {
		n.abandon(p, kafka.NetworkException)
		return
	}
	p.versions, p.ready, p.failures = theirs, true, 0
	n.onReady()
}

// pump sends what may be sent, or sees to it that it can be.
func (n *network) pump(p *peer) {
	for p.ready && len(p.pending) > 0 && len(p.inflight) < n.cfg.MaxInFlight {
		c := p.pending[0]
		p.pending = p.pending[1:]
		n.transmit(p, c)
	}
	if p.conn == 0 && len(p.pending) > 0 && n.env.Now() >= p.retryAt {
		n.connect(p)
	}
	n.watch(p)
}

// watch keeps the peer's timer at the earliest instant at which something must
// happen. A timer that is early is left alone: it looks again when it fires.
func (n *network) watch(p *peer) {
	at, ok := p.nextDeadline()
	if !ok || p.timer != 0 && p.timerAt <= at {
		return
	}
	n.timers.Cancel(p.timer)
	p.timerAt = at
	p.timer = n.timers.After(at-n.env.Now(), func() {
		p.timer = 0
		n.expire(p)
		n.pump(p)
	})
}

func (p *peer) nextDeadline() (at time.Duration, ok bool) {
	consider := func(t time.Duration) {
		if !ok || t < at {
			at, ok = t, true
		}
	}
	for i := range p.inflight {
		consider(p.inflight[i].deadline)
	}
	for i := range p.pending {
		consider(p.pending[i].deadline)
	}
	if p.conn == 0 && len(p.pending) > 0 {
		consider(p.retryAt)
	}
	return at, ok
}

// expire ends what took too long. An unanswered request costs the connection
// and with it every call in flight there; one that was never sent goes alone.
func (n *network) expire(p *peer) {
	now := n.env.Now()
	late := func(c outgoing) bool { return c.deadline <= now }
	if slices.ContainsFunc(p.inflight, late) {
		n.abandon(p, kafka.RequestTimedOut)
		return
	}
	var ended []outgoing
	p.pending = slices.DeleteFunc(p.pending, func(c outgoing) bool {
		if late(c) {
			ended = append(ended, c)
		}
		return late(c)
	})
	for _, c := range ended {
		c.Done(nil, kafka.RequestTimedOut)
	}
}

// lost ends a connection that broke: its calls fail with code; if it never got
// ready, so do those that waited for it.
func (n *network) lost(p *peer, code kafka.ErrorCode) {
	ready := p.ready
	p.failures++
	p.retryAt = p.lastAttempt + n.cfg.Reconnect.After(p.failures, n.env, "reconnect-backoff")
	n.disconnect(p, code, !ready)
	n.pump(p)
}

// abandon closes a connection that this side has lost its trust in.
func (n *network) abandon(p *peer, code kafka.ErrorCode) {
	n.env.Close(p.conn)
	n.lost(p, code)
}

// drop gives a connection up that is of no use any more.
func (n *network) drop(p *peer) {
	if p.conn != 0 {
		n.env.Close(p.conn)
		n.disconnect(p, kafka.NetworkException, false)
		n.pump(p)
	}
}

func (n *network) disconnect(p *peer, code kafka.ErrorCode, withPending bool) {
	ended := p.inflight
	p.inflight = nil
	if withPending {
		ended = append(ended, p.pending...)
		p.pending = nil
	}
	delete(n.conns, p.conn)
	p.conn, p.ready, p.versions = 0, false, nil
	n.onBroken()
	for _, c := range ended {
		c.Done(nil, code)
	}
}
