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

// mailbox is an unbounded FIFO queue: many put, one takes.
type mailbox struct {
	mu      sync.Mutex
	waiting []input
	signal  chan struct{} // has a token when waiting is not empty and the taker may not know
}

func (b *mailbox) put(in input) {
	b.mu.Lock()
	b.waiting = append(b.waiting, in)
	b.mu.Unlock()
	select {
	case b.signal <- struct{}{}:
	default:
	}
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
