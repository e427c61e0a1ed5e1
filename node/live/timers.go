package live

import (
	"time"

	"tidemark/node"
)

// timers are a lane's timers: a heap by due time, and by order of setting among
// equals. One that is cancelled leaves the heap when it comes to the top, or
// when most of the heap is such.
type timers struct {
	heap []due
	set  map[node.TimerID]struct{}
	last node.TimerID
}

type due struct {
	at time.Duration // of the node's monotonic clock
	id node.TimerID
}

func (d due) before(o due) bool { return d.at < o.at || d.at == o.at && d.id < o.id }

func (t *timers) add(at time.Duration) node.TimerID {
	t.last++
	t.set[t.last] = struct{}{}
	t.push(due{at, t.last})
	return t.last
}

// sweepAbove is how many timers are worth a look for dead ones.
const sweepAbove = 1024

// cancel takes a timer back. Nearly every request sets one and cancels it.
func (t *timers) cancel(id node.TimerID) {
	delete(t.set, id)
	if len(t.heap) < sweepAbove || len(t.heap) < 2*len(t.set) {
		return
	}
	all := t.heap
	t.heap = t.heap[:0]
	for _, d := range all {
		if _, ok := t.set[d.id]; ok {
			t.push(d)
		}
	}
}

// next is the due time of the first timer; false if there is none.
func (t *timers) next() (time.Duration, bool) {
	for len(t.heap) > 0 {
		if _, ok := t.set[t.heap[0].id]; ok {
			return t.heap[0].at, true
		}
		t.pop()
	}
	return 0, false
}

// fire takes the first timer out.
func (t *timers) fire() node.TimerID {
	id := t.pop().id
	delete(t.set, id)
	return id
}

func (t *timers) push(d due) {
	t.heap = append(t.heap, d)
	h := t.heap
	i := len(h) - 1
	for i > 0 && d.before(h[(i-1)/2]) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = d
}

func (t *timers) pop() due {
	h := t.heap
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	t.heap = h
	i := 0
	for 2*i+1 < len(h) {
		least := 2*i + 1
		if least+1 < len(h) && h[least+1].before(h[least]) {
			least++
		}
		if !h[least].before(last) {
			break
		}
		h[i] = h[least]
		i = least
	}
	if len(h) > 0 {
		h[i] = last
	}
	return top
}
