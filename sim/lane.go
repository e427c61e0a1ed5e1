package sim

import (
	"fmt"
	"math"

	"tidemark/disk"
	"tidemark/disk/simdisk"
	"tidemark/node"
)

// mailKind is which call of node.Process a mail becomes.
type mailKind uint8

const (
	mailStart mailKind = iota
	mailReceive
	mailPosted
	mailFire
	mailSynced
	mailDisconnected
)

// mail is one input that waits for a lane.
type mail struct {
	kind    mailKind
	from    node.Lane
	x       uint64 // connection, timer or token
	message *node.Message
	value   any
	err     error
}

// lane is one lane of one machine. Its record serves all lives in turn.
type lane struct {
	w     *World
	m     *machine
	id    node.Lane
	index uint16

	process node.Process
	fs      disk.FS
	mailbox fifo[mail]
	busy    int64 // the running or last callback ends then
	woken   bool  // a wake is in the queue
	timers  timers
	ends    []connEnd // by ConnID-1
	sites   map[string]*stream
	hops    stream  // delays of its posts
	posted  []int64 // by lane: when its last post arrives there
	crash   crash
}

// crash is an ordered death: at the ops-th operation from now on, or of the next
// life if it is ordered while the node is down.
type crash struct {
	ops int // 0: none
	how ending
}

// begin readies the record for a new life. A crash that was ordered since the last
// one ended stays.
func (l *lane) begin(s node.LaneSpec) {
	l.process = s.Process
	l.fs = nil
	if s.Disk {
		if l.m.disk == nil {
			panic(fmt.Sprintf("sim: lane %v of node %d wants a disk: the node has none", s.Lane, l.m.cfg.ID))
		}
		l.fs = l.m.disk.View(s.Lane.String(), (*diskHost)(l))
	}
	l.busy, l.woken = 0, false
	l.timers.reset()
	l.ends = l.ends[:0]
	l.sites = map[string]*stream{}
	l.hops = stream{key: streamKey(l.w.opts.Seed, int32(l.m.cfg.ID), l.m.life, uint8(l.id), "post")}
	clear(l.posted)
}

// end forgets what the process held; its record stays for the next life.
func (l *lane) end() {
	l.mailbox.reset()
	l.timers.reset()
	l.crash = crash{}
	l.process, l.fs = nil, nil
}

// lives tells whether the lane still is in that life.
func (l *lane) lives(life uint32) bool { return l.m.alive && l.m.life == life }

// deliver puts a mail into a living lane's mailbox and sees to it that the lane
// wakes up. Nothing runs in here.
func (w *World) deliver(l *lane, m mail) {
	l.mailbox.push(m)
	w.offer(l)
}

// offer lets an idle lane with mail run: at once if an event is being handled
// and no other lane was first, else by an event of its own.
func (w *World) offer(l *lane) {
	if l.woken || l.m.paused || l.mailbox.len() == 0 || l.busy == math.MaxInt64 {
		return
	}
	if w.dispatching && w.next == nil && l.busy <= w.now {
		w.next = l
		l.woken = true
		return
	}
	l.woken = true
	w.schedule(entry{at: max(w.now, l.busy), kind: evWake, lane: l.index, life: l.m.life})
}

// runLane runs the lane's next callback, skipping mail that is void by now.
func (w *World) runLane(l *lane) {
	l.woken = false
	for l.mailbox.len() > 0 {
		m := l.mailbox.pop()
		if l.isVoid(&m) {
			continue
		}
		w.running, w.start, w.cost = l, w.now, int64(w.opts.CallbackCost)
		w.stats.Callbacks++
		l.call(&m)
		w.running = nil
		l.busy = w.start + w.cost
		w.digest.Uint64(uint64(l.busy))
		break
	}
	w.offer(l)
}

// isVoid recognises the timer that was cancelled and the connection that the
// lane closed after the mail came in.
func (l *lane) isVoid(m *mail) bool {
	switch m.kind {
	case mailFire:
		return !l.timers.clear(node.TimerID(m.x))
	case mailReceive, mailDisconnected:
		return l.conn(node.ConnID(m.x)) == nil
	}
	return false
}

func (l *lane) call(m *mail) {
	p := l.process
	switch m.kind {
	case mailStart:
		p.Start((*env)(l))
	case mailReceive:
		p.Receive(node.ConnID(m.x), m.message)
	case mailPosted:
		p.Posted(m.from, m.value)
	case mailFire:
		p.Fire(node.TimerID(m.x))
	case mailSynced:
		p.Synced(disk.Token(m.x), m.err)
	case mailDisconnected:
		l.forget(node.ConnID(m.x))
		p.Disconnected(node.ConnID(m.x))
	}
}

// inside holds the port to its word: an Env is for its lane's callbacks alone.
func (l *lane) inside() {
	if l.w.running != l {
		panic(fmt.Sprintf("sim: %v of node %d used its Env or FS outside of a callback", l.id, l.m.cfg.ID))
	}
}

// op counts an operation of the running callback, before its effect. The
// ordered crash happens here.
func (l *lane) op() {
	l.inside()
	if l.crash.ops > 0 {
		l.crash.ops--
		if l.crash.ops == 0 {
			l.w.count(FaultCrash, true)
			panic(deathSignal{l.crash.how})
		}
	}
}

// stamp is the instant of what the running callback does now.
func (w *World) stamp() int64 { return w.start + w.cost }

// post is a value on its way between two lanes.
type post struct {
	from  node.Lane
	value any
}

// syncing is a sync that the disk works on.
type syncing struct {
	handle simdisk.Sync
	token  disk.Token
	stamp  int64 // when the lane asked
}

// finishSync makes a sync durable and tells the lane. A sync of a process that
// was killed since goes on in its kernel, unless it was asked for after the
// death; a power loss took it.
func (w *World) finishSync(e *entry) {
	l := w.lanes[e.lane]
	s := w.syncs.at(e.x)
	if !l.lives(e.life) && l.m.diedBefore(e.life, s.stamp) {
		w.syncs.take(e.x)
		return
	}
	o := l.m.disk.Finish(s.handle, w.now)
	if o.Again != 0 {
		w.schedule(entry{at: o.Again, kind: evSync, lane: e.lane, life: e.life, x: e.x})
		return
	}
	token := w.syncs.take(e.x).token
	if !o.Gone && l.lives(e.life) {
		w.deliver(l, mail{kind: mailSynced, x: uint64(token), err: o.Err})
	}
}

// diskHost is the World as a lane's view of the disk sees it.
type diskHost lane

// Now implements simdisk.Host.
func (h *diskHost) Now() int64 { return h.w.stamp() }

// Charge implements simdisk.Host.
func (h *diskHost) Charge(ns int64) { h.w.cost += ns }

// Step implements simdisk.Host.
func (h *diskHost) Step() { (*lane)(h).op() }

// Complete implements simdisk.Host.
func (h *diskHost) Complete(t disk.Token, at int64, s simdisk.Sync) {
	l := (*lane)(h)
	w := l.w
	w.schedule(entry{at: at, kind: evSync, lane: l.index, life: l.m.life,
		x: w.syncs.put(syncing{handle: s, token: t, stamp: w.stamp()})})
}
