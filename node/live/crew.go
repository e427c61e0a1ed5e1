package live

import (
	"slices"
	"sync"
)

// crew are the goroutines that run a node's lanes, as many as there are lanes, so
// that a lane which waits for its disk keeps no other from running. A lane is run
// by one of them at a time, by whichever has hands free.
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

// worker is one goroutine of a crew.
type worker struct {
	crew *crew
	kept *lane // is run next; nil for none
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
