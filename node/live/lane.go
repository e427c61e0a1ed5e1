package live

import (
	"runtime"
	"time"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/live/recording"
)

// lane is one lane of the node. All but the mailbox belongs to its goroutine.
type lane struct {
	n       *Node
	id      node.Lane
	process node.Process
	env     node.Env        // what the process is given
	tape    *recording.Tape // nil if nothing is recorded
	box     mailbox
	fs      disk.FS
	timers  timers
	peers   map[node.ConnID]*peer // that the lane may be called for
	last    node.ConnID
	sites   map[string]*stream

	now    time.Duration // sampled for the running callback
	wall   kafka.Timestamp
	batch  []input // taken from the mailbox
	head   int     // of batch
	mail   bool    // whose turn it is: mail's or a timer's
	wakeup *time.Timer
}

func newLane(n *Node, s node.LaneSpec) *lane {
	l := &lane{n: n, id: s.Lane, process: s.Process, box: mailbox{signal: make(chan struct{}, 1)},
		timers: timers{set: map[node.TimerID]struct{}{}}, peers: map[node.ConnID]*peer{}, sites: map[string]*stream{}}
	if s.Disk {
		l.fs = &laneFS{l: l, fs: n.disk.View(func(t disk.Token, err error) {
			l.box.put(input{kind: synced, token: t, err: err})
		})}
	}
	l.env = (*env)(l)
	if n.record != nil {
		l.tape = recording.NewTape(l.env)
		l.env = l.tape
	}
	return l
}

// run is the lane's goroutine. Its Start waits for the lane before it and makes
// way for the one behind it.
func (l *lane) run(before <-chan struct{}, after chan<- struct{}) {
	l.wakeup = time.NewTimer(0)
	defer l.wakeup.Stop()
	defer l.stopTape()
	<-before
	func() {
		defer close(after)
		l.op()
		l.now, l.wall = l.n.clock()
		l.begin(recording.Start, input{})
		l.process.Start(l.env)
		l.finish()
	}()
	for {
		in, ok := l.next()
		if !ok {
			return
		}
		l.step(in)
	}
}

// op stands before every operation of a callback: the dead do not do it.
func (l *lane) op() {
	if l.n.dead.Load() {
		runtime.Goexit()
	}
}

// next waits for the lane's next input and samples its clocks; false if the node
// is dead. Mail and due timers take turns, so that neither keeps the other
// waiting.
func (l *lane) next() (input, bool) {
	for !l.n.dead.Load() {
		if l.head == len(l.batch) {
			l.batch, l.head = l.box.take(l.batch), 0
		}
		waiting := l.head < len(l.batch)
		l.now, l.wall = l.n.clock()
		at, set := l.timers.next()
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
		l.sleep(at-l.now, set)
	}
	return input{}, false
}

// sleep waits for mail, death, or the next timer if one is set.
func (l *lane) sleep(d time.Duration, set bool) {
	l.writeTape(0)
	var alarm <-chan time.Time
	if set {
		l.wakeup.Reset(d)
		alarm = l.wakeup.C
	}
	select {
	case <-l.box.signal:
	case <-alarm:
	case <-l.n.dying:
	}
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
