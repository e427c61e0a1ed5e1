package live

import (
	"sync"

	"tidemark/disk"
	"tidemark/node"
)

// kind is which call of node.Process an input becomes.
type kind uint8

const (
	received kind = iota
	posted
	fired
	synced
	disconnected
)

// input is one input of a lane.
type input struct {
	kind    kind
	from    node.Lane
	peer    *peer
	message *node.Message
	frame   []byte // that the message was decoded from
	value   any
	timer   node.TimerID
	token   disk.Token
	err     error
}

// mailbox is an unbounded FIFO queue: many put, one takes. It knows whether its lane
// is being run, or will be: only who finds it at rest has to see to that.
type mailbox struct {
	mu      sync.Mutex
	waiting []input
	nudged  bool // wake was called since rest looked last
	running bool
}

// put tells whether the lane was at rest: the caller must have it run.
func (b *mailbox) put(in input) (rested bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, in)
	return b.rouse()
}

// wake makes the lane look at its timers; it tells what put does.
func (b *mailbox) wake() (rested bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nudged = true
	return b.rouse()
}

func (b *mailbox) rouse() (rested bool) {
	rested = !b.running
	b.running = true
	return rested
}

// rest ends the running, unless something came: rested is false then. nudged tells
// that wake was called.
func (b *mailbox) rest() (rested, nudged bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	nudged, b.nudged = b.nudged, false
	if nudged || len(b.waiting) > 0 {
		return false, nudged
	}
	b.running = false
	return true, false
}

// largest is how much room a mailbox keeps for the next burst, inputs.
const largest = 4096

// take returns all that waits and leaves empty, cleared inputs whose room is
// used again.
func (b *mailbox) take(empty []input) []input {
	if cap(empty) > largest {
		empty = nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		return empty[:0]
	}
	batch := b.waiting
	b.waiting = empty[:0]
	return batch
}
