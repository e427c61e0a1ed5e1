package tcp

import "sync"

// smallFrame is up to which size a frame needs no share of the budget, bytes.
const smallFrame = 64 << 10

// budget is a number of bytes that readers share, first come, first served, so
// that a large frame is not passed over for ever.
//
// A reader may wait for a larger share while it holds one, and several that do so must
// not wait for each other. Shares that may have to grow are given as long as spare bytes
// are left, which is the most that one reader can want. From there on whoever is next
// in line gets all that it will ever want, or waits. So all shares given beyond that
// point come back without another, and then there is enough for the next in line.
type budget struct {
	spare   int // bytes
	mu      sync.Mutex
	free    int // bytes
	waiters []*waiter
}

// waiter wants part of whole bytes for the beginning.
type waiter struct {
	part, whole int
	share       int           // that it got, bytes
	granted     chan struct{} // share is set
}

// take waits for part bytes or for whole, as the budget sees fit, and returns how many
// it got; it gives up, and returns 0, when stop closes.
func (b *budget) take(part, whole int, stop <-chan struct{}) int {
	share, w := b.ask(part, whole)
	if w == nil {
		return share
	}
	select {
	case <-w.granted:
		return w.share
	case <-stop:
		b.leave(w)
		return 0
	}
}

// ask returns a share, or the place in line of who has to wait for it.
func (b *budget) ask(part, whole int) (int, *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiters) == 0 {
		if share := b.share(part, whole); share > 0 {
			return share, nil
		}
	}
	w := &waiter{part: part, whole: whole, granted: make(chan struct{})}
	b.waiters = append(b.waiters, w)
	return 0, w
}

// share takes what the next in line may have now, 0 if that is nothing. The caller has
// b.mu.
func (b *budget) share(part, whole int) int {
	share := 0
	switch {
	case b.free-part >= b.spare:
		share = part
	case b.free >= whole:
		share = whole
	}
	b.free -= share
	return share
}

// leave takes a waiter out, or gives back what it was granted meanwhile.
func (b *budget) leave(w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-w.granted:
		b.free += w.share
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
	for len(b.waiters) > 0 {
		w := b.waiters[0]
		if w.share = b.share(w.part, w.whole); w.share == 0 {
			return
		}
		close(w.granted)
		b.waiters = b.waiters[1:]
	}
}

// wanted tells whether somebody waits.
func (b *budget) wanted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiters) > 0
}
