package tcp

import "sync"

// smallFrame is up to which size a frame needs no share of the budget, bytes.
const smallFrame = 64 << 10

// budget is a number of bytes that readers share, first come, first served, so
// that a large frame is not passed over for ever.
type budget struct {
	mu      sync.Mutex
	free    int
	waiters []*waiter
}

type waiter struct {
	n       int
	granted chan struct{}
}

// take waits for n bytes; it gives up, and returns false, when stop closes.
func (b *budget) take(n int, stop <-chan struct{}) bool {
	b.mu.Lock()
	if len(b.waiters) == 0 && n <= b.free {
		b.free -= n
		b.mu.Unlock()
		return true
	}
	w := &waiter{n: n, granted: make(chan struct{})}
	b.waiters = append(b.waiters, w)
	b.mu.Unlock()
	select {
	case <-w.granted:
		return true
	case <-stop:
		b.leave(w)
		return false
	}
}

// leave takes a waiter out, or gives back what it was granted meanwhile.
func (b *budget) leave(w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-w.granted:
		b.free += w.n
	default:
		for i := range b.waiters {
			if b.waiters[i] == w {
				b.waiters = append(b.waiters[:i], b.waiters[i+1:]...)
				break
			}
		}
	}
	b.grant()
}

// give returns n bytes.
func (b *budget) give(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free += n
	b.grant()
}

func (b *budget) grant() {
	for len(b.waiters) > 0 && b.waiters[0].n <= b.free {
		b.free -= b.waiters[0].n
		close(b.waiters[0].granted)
		b.waiters = b.waiters[1:]
	}
}
