package sim

import (
	"fmt"
	"slices"
	"time"

	"tidemark/disk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/net/simnet"
	"tidemark/node"
)

// env is the World as a lane sees it.
type env lane

// Node implements node.Env.
func (e *env) Node() kafka.BrokerID { return e.m.cfg.ID }

// Now implements node.Env: the time since the boot.
func (e *env) Now() time.Duration {
	(*lane)(e).inside()
	return time.Duration(e.w.start - e.m.booted)
}

// Wall implements node.Env.
func (e *env) Wall() kafka.Timestamp {
	(*lane)(e).inside()
	return e.m.clock.millis(e.w.start)
}

// SetTimer implements node.Env.
func (e *env) SetTimer(d time.Duration) node.TimerID {
	l := (*lane)(e)
	l.op()
	id := l.timers.set()
	l.w.schedule(entry{at: l.w.stamp() + max(int64(d), 0), kind: evTimer, lane: l.index, life: l.m.life, x: uint64(id)})
	return id
}

// CancelTimer implements node.Env.
func (e *env) CancelTimer(id node.TimerID) {
	l := (*lane)(e)
	l.op()
	if l.timers.clear(id) {
		l.w.stale++
		l.w.sweepTimers()
	}
}

// Dial implements node.Env.
func (e *env) Dial(addr string) node.ConnID {
	l := (*lane)(e)
	l.op()
	return l.w.dial(l, addr)
}

// Send implements node.Env.
func (e *env) Send(conn node.ConnID, m *node.Message) {
	l := (*lane)(e)
	l.op()
	l.w.send(l, conn, m)
}

// Release implements node.Env.
func (e *env) Release(conn node.ConnID) {
	l := (*lane)(e)
	l.op()
	if c := l.conn(conn); c != nil {
		c.finish(l, conn)
		l.w.net.Resume(c.net, l.w.stamp())
	}
}

// Close implements node.Env.
func (e *env) Close(conn node.ConnID) {
	l := (*lane)(e)
	l.op()
	if c := l.conn(conn); c != nil {
		l.w.net.Close(c.net, c.side, l.w.stamp())
		l.forget(conn)
	}
}

// Post implements node.Env.
func (e *env) Post(to node.Lane, msg any) {
	l := (*lane)(e)
	l.op()
	w := l.w
	dest := l.m.lane(to)
	if dest == nil {
		panic(fmt.Sprintf("%v posts to %v, which node %d does not have", l.id, to, l.m.cfg.ID))
	}
	for int(to) >= len(l.posted) {
		l.posted = append(l.posted, 0)
	}
	at := w.stamp() + postBase + int64(below(l.hops.next(), postJitter+1))
	at = max(at, l.posted[to])
	l.posted[to] = at
	w.schedule(entry{at: at, kind: evPost, lane: dest.index, life: l.m.life, x: w.posts.put(post{l.id, msg})})
}

// FS implements node.Env.
func (e *env) FS() disk.FS { return e.fs }

// Rand implements node.Env.
func (e *env) Rand(site string) uint64 {
	(*lane)(e).inside()
	s := e.sites[site]
	if s == nil {
		s = &stream{key: streamKey(e.w.opts.Seed, int32(e.m.cfg.ID), e.m.life, uint8(e.id), site)}
		e.sites[site] = s
	}
	return s.next()
}

// Emit implements node.Env. The event joins the trace at its stamp; its lists
// are copied, for the emitter may go on with them.
func (e *env) Emit(ev *event.Event) {
	w := e.w
	(*lane)(e).inside()
	c := *ev
	c.Node = e.m.cfg.ID
	c.ISR = slices.Clone(ev.ISR)
	c.Records = slices.Clone(ev.Records)
	w.schedule(entry{at: w.stamp(), kind: evEmit, lane: e.index, life: e.m.life, x: w.emits.put(c)})
}

// cleanExit is the reason with which nodes end a controlled shutdown.
const cleanExit = "controlled shutdown"

// Exit implements node.Env. It does not return: nothing of the callback after
// it happens.
func (e *env) Exit(reason string) {
	(*lane)(e).op()
	text := "exit: " + reason
	if reason == cleanExit {
		text = "stop"
	}
	panic(deathSignal{ending{text: text}})
}

// emitted is a trace event that waits for its stamp.
type emitted = event.Event

// publish hands a trace event on, unless its node died before its stamp.
func (w *World) publish(e *entry) {
	ev := w.emits.at(e.x)
	if w.lanes[e.lane].lives(e.life) {
		w.trace(ev)
	}
	w.emits.take(e.x)
}

// trace numbers an event and shows it to everyone.
func (w *World) trace(e *event.Event) {
	w.traced++
	e.Seq, e.At = w.traced, w.now
	w.digest.Add(e)
	w.claim(e)
	for _, f := range w.observers {
		f(e)
	}
}

// Observe calls f for every event of the trace, in order. f may keep the
// event's lists but not the event, and must not change it.
func (w *World) Observe(f func(*event.Event)) { w.observers = append(w.observers, f) }

// Emit adds an event of the driver's own to the trace, a profile or a step, and
// fills in its sequence number and instant.
func (w *World) Emit(e *event.Event) { w.trace(e) }

// wires is the World as the network sees it.
type wires World

// Wake implements simnet.Host.
func (h *wires) Wake(p simnet.Pipe, at int64) {
	w := (*World)(h)
	w.schedule(entry{at: at, kind: evPump, x: uint64(p)})
}

// Draw implements simnet.Host.
func (h *wires) Draw(key, n uint64) uint64 { return draw(key, n) }

// Gone implements simnet.Host.
func (h *wires) Gone(c simnet.Conn, side simnet.Side) { (*World)(h).disconnect(c, side) }

// Effect implements simnet.Host.
func (h *wires) Effect(f simnet.Fault, from, to int32) { (*World)(h).netEffect(f, from, to) }
