package broker

import (
	"time"

	"tidemark/model/kafka"
)

// allocateBackoff is the pause after a request for producer ids that failed.
const allocateBackoff = 50 * time.Millisecond

// producerIDs hands out the producer ids of this broker's blocks: Kafka's
// RPCProducerIdManager.
//
//	block   first ──────── next ─────── 90 % ───── end      spare  first ── end
//	          handed out │  to hand out │ asks for the spare │
//
// What is left of a block is lost with the process: there are enough.
type producerIDs struct {
	block   idBlock
	next    kafka.ProducerID // of block, to hand out
	spare   idBlock
	asking  bool
	retryAt time.Duration // node clock; no request before
}

// idBlock is the ids from first to before end.
type idBlock struct{ first, end kafka.ProducerID }

func (b idBlock) empty() bool { return b.first == b.end }

// prefetchAt is the id whose use makes the next block due: at 90 % of this one.
func (b idBlock) prefetchAt() kafka.ProducerID { return b.first + (b.end-b.first)*9/10 }

// take hands out an id, if there is one; ask tells to request a block.
func (p *producerIDs) take(now time.Duration) (id kafka.ProducerID, ok, ask bool) {
	if p.next == p.block.end && !p.spare.empty() {
		p.block, p.next, p.spare = p.spare, p.spare.first, idBlock{}
	}
	if p.next == p.block.end {
		return kafka.NoProducerID, false, p.request(now)
	}
	id = p.next
	p.next++
	return id, true, id == p.block.prefetchAt() && p.request(now)
}

// request tells whether to request a block now, and takes it as done.
func (p *producerIDs) request(now time.Duration) bool {
	if p.asking || !p.spare.empty() || now < p.retryAt {
		return false
	}
	p.asking = true
	return true
}

// allocated takes the answer to a request.
func (p *producerIDs) allocated(b allocatedPost, now time.Duration) {
	p.asking = false
	if b.Count <= 0 {
		p.retryAt = now + allocateBackoff
		return
	}
	p.spare = idBlock{b.First, b.First + kafka.ProducerID(b.Count)}
}
