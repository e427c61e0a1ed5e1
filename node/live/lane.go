package live

import (
	"runtime"
	"time"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/live/recording"
)

// lane is one lane of the node. All but the mailbox belongs to the worker that runs
// it.
type lane struct {
	n       *Node
	id      node.Lane
	process node.Process
	env     node.Env        // what the process is given
	tape    *recording.Tape // nil if nothing is recorded
	box     mailbox
	worker  *worker
	fs      disk.FS
	timers  timers
	peers   map[node.ConnID]*peer // that the lane may be called for
	last    node.ConnID
	sites   map[string]*stream

	now   time.Duration // sampled for the running callback
	wall  kafka.Timestamp
	batch []input       // taken from the mailbox
	head  int           // of batch
	mail  bool          // whose turn it is: mail's or a timer's
	alarm *time.Timer   // wakes the mailbox
	rings time.Duration // when alarm does at the latest; noAlarm if that is not known
}

const noAlarm = time.Duration(-1)

func newLane(n *Node, s node.LaneSpec) *lane {
	l := &lane{n: n, id: s.Lane, process: s.Process, box: mailbox{running: true}, rings: noAlarm,
		timers: timers{set: map[node.TimerID]struct{}{}}, peers: map[node.ConnID]*peer{}, sites: map[string]*stream{}}
	if s.Disk {
		l.fs = &laneFS{l: l, fs: n.disk.View(func(t disk.Token, err error) {
			l.put(input{kind: synced, token: t, err: err})
		})}
	}
	l.env = (*env)(l)
	if n.record != nil {
		l.tape = recording.NewTape(l.env)
		l.env = l.tape
	}
	return l
}

// put gives the lane an input from outside of the lanes.
func (l *lane) put(in input) {
	if l.box.put(in) {
		l.n.crew.add(l)
	}
}

// bring gives the lane an input of a connection, whose goroutine the caller is.
func (l *lane) bring(in input) {
	switch {
	case !l.box.put(in):
	case len(in.frame) > largeFrame && in.peer.conn.More():
		l.n.crew.add(l)
	default:
		l.n.crew.visit(l)
	}
}

// largeFrame is from which size on a frame takes so long to read that another worker
// is woken for it if the next one is there, bytes.
const largeFrame = 64 << 10

// wake makes the lane look at its timers.
func (l *lane) wake() {
	if l.box.wake() {
		l.n.crew.add(l)
	}
}

// start runs the lane's first callback. Before it nobody else runs the lane,
// whatever its mailbox has.
func (l *lane) start(w *worker) {
	l.worker = w
	l.op()
	l.alarm = time.AfterFunc(time.Hour, l.wake)
	l.now, l.wall = l.n.clock()
	l.begin(recording.Start, input{})
	l.process.Start(l.env)
	l.finish()
	w.yield()
	l.n.crew.add(l)
}

// turn runs the lane until it has nothing more to do, or leaves it to the crew.
func (l *lane) turn(w *worker) {
	l.worker = w
	for {
		if w.leaves() {
			w.crew.add(l)
			return
		}
		in, ok := l.next()
		if !ok {
			return
		}
		w.yield()
		l.step(in)
	}
}

// stop comes after the last callback of a dead node.
func (l *lane) stop() {
	if l.alarm != nil {
		l.alarm.Stop()
	}
	l.stopTape()
}

// op stands before every operation of a callback: the dead do not do it.
func (l *lane) op() {
	if l.n.dead.Load() {
		runtime.Goexit()
	}
}

// diskOp stands before every operation on the disk, which may take long.
func (l *lane) diskOp() {
	l.op()
	l.worker.yield()
}

// next is the lane's next input, for which it samples its clocks; false if there is
// none, or the node is dead. Mail and due timers take turns, so that neither keeps the other
// waiting. A lane that has no mail, and an alarm for its timers, looks at no clock.
func (l *lane) next() (input, bool) {
	for !l.n.dead.Load() {
		if l.head == len(l.batch) {
			l.batch, l.head = l.box.take(l.batch), 0
		}
		waiting := l.head < len(l.batch)
		at, set := l.timers.next()
		if waiting || set && !l.alarmed(at) {
			l.now, l.wall = l.n.clock()
		} else {
			set = false
		}
		switch {
		case set && at <= l.now && !(l.mail && waiting):
			l.mail = true
			return input{kind: fired, timer: l.timers.fire()}, true
		case waiting:
			l.mail = false
			in := l.batch[l.head]
			l.batch[l.head] = input{}
			l.head++
			return in, true
		}
		if l.rest(at, set) {
			break
		}
	}
	return input{}, false
}

// alarmed tells that the alarm rings at a time or before.
func (l *lane) alarmed(at time.Duration) bool { return l.rings != noAlarm && l.rings <= at }

// rest leaves the lane to whoever puts something into its mailbox, and to an alarm
// for a timer, if one is due at a time and needs it; false if something is there
// already. An alarm that was set for a timer which is gone by now wakes the lane for
// nothing, which is cheaper than to move it with every request.
func (l *lane) rest(at time.Duration, due bool) bool {
	l.writeTape(0)
	if due && !l.alarmed(at) {
		l.rings = at
		l.alarm.Reset(at - l.now)
	}
	rested, nudged := l.box.rest() // once rested, the lane is another worker's
	if nudged {
		l.rings = noAlarm
	}
	return rested
}

// step runs the callback of one input, unless it is about a connection that the
// lane closed after the input came in.
func (l *lane) step(in input) {
	switch in.kind {
	case received:
		if l.knows(in.peer) {
			l.begin(recording.Receive, in)
			l.process.Receive(in.peer.id, in.message)
		}
	case disconnected:
		if in.peer.id != 0 && !in.peer.over {
			l.forget(in.peer)
			l.begin(recording.Disconnected, in)
			l.process.Disconnected(in.peer.id)
		}
	case posted:
		l.begin(recording.Posted, in)
		l.process.Posted(in.from, in.value)
	case fired:
		l.begin(recording.Fire, in)
		l.process.Fire(in.timer)
	case synced:
		l.begin(recording.Synced, in)
		l.process.Synced(in.token, in.err)
	}
	l.finish()
}
