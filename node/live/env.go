package live

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"tidemark/disk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
)

// env is the driver as a lane sees it.
type env lane

// Node implements node.Env.
func (e *env) Node() kafka.BrokerID { return e.n.id }

// Now implements node.Env.
func (e *env) Now() time.Duration { return e.now }

// Wall implements node.Env.
func (e *env) Wall() kafka.Timestamp { return e.wall }

// SetTimer implements node.Env. The time counts from the start of the callback.
func (e *env) SetTimer(d time.Duration) node.TimerID {
	(*lane)(e).op()
	return e.timers.add(e.now + max(d, 0))
}

// CancelTimer implements node.Env.
func (e *env) CancelTimer(id node.TimerID) {
	(*lane)(e).op()
	e.timers.cancel(id)
}

// Dial implements node.Env.
func (e *env) Dial(addr string) node.ConnID {
	l := (*lane)(e)
	l.op()
	p := &peer{lane: l}
	p.conn = l.n.net.Dial(addr, p)
	return l.open(p)
}

// Send implements node.Env.
func (e *env) Send(conn node.ConnID, m *node.Message) {
	(*lane)(e).op()
	if p := e.peers[conn]; p != nil {
		p.conn.Send(m)
		return
	}
	for _, r := range m.Regions {
		r.Release()
	}
}

// Release implements node.Env.
func (e *env) Release(conn node.ConnID) {
	(*lane)(e).op()
	if p := e.peers[conn]; p != nil {
		p.conn.Release()
	}
}

// Close implements node.Env.
func (e *env) Close(conn node.ConnID) {
	l := (*lane)(e)
	l.op()
	if p := e.peers[conn]; p != nil {
		l.forget(p)
		p.conn.Close()
	}
}

// Post implements node.Env.
func (e *env) Post(to node.Lane, msg any) {
	(*lane)(e).op()
	dest := e.n.lane(to)
	if dest == nil {
		panic(fmt.Sprintf("%v posts to %v, which node %d does not have", e.id, to, e.n.id))
	}
	if dest.box.put(input{kind: posted, from: e.id, value: msg}) {
		e.worker.hand(dest)
	}
}

// FS implements node.Env.
func (e *env) FS() disk.FS { return e.fs }

// Rand implements node.Env.
func (e *env) Rand(site string) uint64 {
	s := e.sites[site]
	if s == nil {
		s = newStream(e.n.seed, e.n.id, e.id, site)
		e.sites[site] = s
	}
	return s.Uint64()
}

// Emit implements node.Env.
func (e *env) Emit(ev *event.Event) {
	(*lane)(e).op()
	if !e.n.wants(ev.Kind) {
		return
	}
	c := *ev
	c.ISR = slices.Clone(ev.ISR)
	c.Records = slices.Clone(ev.Records)
	e.n.trace(&c)
}

// Exit implements node.Env. It does not return.
func (e *env) Exit(reason string) {
	(*lane)(e).op()
	e.n.exit(reason)
	runtime.Goexit()
}
