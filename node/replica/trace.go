package replica

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node/storage"
)

// trace begins an event about the partition. The event is reused: the host
// copies what it is given.
func (p *Partition) trace(k event.Kind) *event.Event {
	p.scratch = event.New(k)
	p.scratch.Topic, p.scratch.Partition = p.tp.Topic, p.tp.Partition
	return &p.scratch
}

func (p *Partition) role() string {
	if p.IsLeader() {
		return "leader"
	}
	return "follower"
}

func (p *Partition) traceBecameLeader() {
	e := p.trace(event.BecameLeader)
	e.Epoch, e.PartitionEpoch, e.ISR = p.leaderEpoch, p.partitionEpoch, p.isr.committed
	e.Offset, e.End, e.HighWatermark = p.epochStart, p.log.LogEnd(), p.highWatermark
	p.host.Emit(e)
}

func (p *Partition) traceBecameFollower() {
	e := p.trace(event.BecameFollower)
	e.Peer, e.Epoch, e.PartitionEpoch = p.leader, p.leaderEpoch, p.partitionEpoch
	e.End, e.HighWatermark = p.log.LogEnd(), p.highWatermark
	p.host.Emit(e)
}

func (p *Partition) traceAppended(batches []storage.BatchInfo) {
	for _, b := range batches {
		e := p.trace(event.Appended)
		e.Offset, e.End, e.Epoch, e.Hash, e.Text = b.Base, b.Next, b.Epoch, uint64(b.CRC), p.role()
		p.host.Emit(e)
	}
}

func (p *Partition) traceHighWatermark(before, after kafka.Offset) {
	e := p.trace(event.HighWatermarkMoved)
	e.Offset, e.HighWatermark, e.Epoch, e.Text = before, after, p.leaderEpoch, p.role()
	p.host.Emit(e)
}

func (p *Partition) traceTruncated(before kafka.Offset, reason string) {
	e := p.trace(event.Truncated)
	e.Offset, e.End, e.Epoch, e.Text = before, p.log.LogEnd(), p.leaderEpoch, reason
	p.host.Emit(e)
}

func (p *Partition) traceISR(k event.Kind, isr []kafka.BrokerID, text string) {
	e := p.trace(k)
	e.ISR, e.Epoch, e.PartitionEpoch, e.Text = isr, p.leaderEpoch, p.partitionEpoch, text
	p.host.Emit(e)
}

// traceEffect names a rare path that ran, so that a search can tell whether it
// ever got there. Paths with an event of their own need none.
func (p *Partition) traceEffect(path string) {
	e := p.trace(event.Effect)
	e.Text = path
	p.host.Emit(e)
}

// DuplicateEffect is the text of the event that tells of a batch that a leader
// did not append again: Offset to End is where it lies.
const DuplicateEffect = "duplicate dropped"

func (p *Partition) traceDuplicate(a storage.Appended) {
	e := p.trace(event.Effect)
	e.Offset, e.End, e.Text = a.First, a.Last+1, DuplicateEffect
	p.host.Emit(e)
}

func panicf(format string, args ...any) { panic("replica: " + fmt.Sprintf(format, args...)) }
