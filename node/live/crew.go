package live

import (
	"slices"
	"sync"
)

// crew are the goroutines that run a node's lanes, as many as there are lanes, so
// that a lane which waits for its disk keeps no other from running. A lane is run
// by one worker at a time, by whichever has hands free.
//
// The goroutine of a connection is a worker too, for a while: with a small request
// that finds its lane idle it goes on itself, as a guest of the crew, from the socket
// to the response. A large one that the next follows is left to the crew, so that this
// is read meanwhile.
//
// A request goes from lane to lane, and to wake a goroutine for each step would
// cost more than the steps: an idle processor has to be woken too. So a worker
// keeps the first idle lane that its callback posts to, and runs it next itself,
// unless there is other work before that: another callback of the same lane, or an
// operation on the disk, which may take long. Then another worker gets it.
type crew struct {
	mu     sync.Mutex
	ready  []*lane // that have input and nobody who runs them, in order
	idle   int     // workers that wait for wake
	closed bool
	wake   chan struct{} // has room for a token for each worker
}

func newCrew(workers int) crew { return crew{wake: make(chan struct{}, workers)} }

// add gives the crew a lane to run.
func (c *crew) add(l *lane) {
	c.mu.Lock()
	c.ready = append(c.ready, l)
	rouse := c.idle > 0
	if rouse {
		c.idle--
	}
	c.mu.Unlock()
	if rouse {
		c.wake <- struct{}{}
	}
}

// take waits for a lane to run; nil when the node is dead.
func (c *crew) take() *lane {
	for {
		c.mu.Lock()
		if c.closed {
			c.mu.Unlock()
			return nil
		}
		if len(c.ready) > 0 {
			l := c.ready[0]
			c.ready = slices.Delete(c.ready, 0, 1)
			c.mu.Unlock()
			return l
		}
		c.idle++
		c.mu.Unlock()
		<-c.wake
	}
}

// close lets all workers end.
func (c *crew) close() {
	c.mu.Lock()
	c.closed = true
	idle := c.idle
	c.idle = 0
	c.mu.Unlock()
	for range idle {
		c.wake <- struct{}{}
	}
}

// guestSteps is how many callbacks a guest runs at the most: then others' requests
// keep it from its own connection, and the crew goes on.
const guestSteps = 32

// visit runs a lane, and what it posts to, on the goroutine of the caller.
func (c *crew) visit(l *lane) {
	w := &worker{crew: c, guest: true}
	for l != nil {
		l.turn(w)
		l, w.kept = w.kept, nil
	}
}

// worker is one goroutine that runs lanes.
type worker struct {
	crew  *crew
	kept  *lane // is run next; nil for none
	guest bool
	steps int // of a guest
}

// leaves tells that a guest has to go before its next callback.
func (w *worker) leaves() bool {
	w.steps++
	return w.guest && w.steps > guestSteps
}

// run runs lanes until the node is dead.
func (w *worker) run() {
	for {
		l := w.kept
		w.kept = nil
		if l == nil {
			l = w.crew.take()
		}
		if l == nil {
			return
		}
		l.turn(w)
	}
}

// hand takes an idle lane that the running one posted to.
func (w *worker) hand(l *lane) {
	if w.kept == nil {
		w.kept = l
		return
	}
	w.crew.add(l)
}

// yield lets another worker have the lane that is kept.
func (w *worker) yield() {
	if w.kept != nil {
		w.crew.add(w.kept)
		w.kept = nil
	}
}
