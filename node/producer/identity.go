package producer

import (
	"math"
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node/client"
)

// identity is a producer id with its epoch. Sequences count anew in each.
type identity struct {
	id    kafka.ProducerID
	epoch kafka.ProducerEpoch
}

var noIdentity = identity{kafka.NoProducerID, -1}

// lastEpoch is the one after which a producer needs another id.
const lastEpoch kafka.ProducerEpoch = math.MaxInt16

// idempotence is what a producer with enable.idempotence=true knows of itself:
// the part of Kafka's TransactionManager that needs no transactions (KIP-98).
//
//	none ── InitProducerId ──▶ (id, epoch 0) ── a partition has a gap ──▶ (id, epoch + 1)
//	  ▲                                              epoch 32767            │
//	  └─────────────────────────────────────────────────────────────────────┘
type idempotence struct {
	as      identity
	asking  bool            // InitProducerId is on its way
	askAt   time.Duration   // not before; end of the pause after an attempt that failed
	bumpDue bool            // a partition needs a new epoch
	fatal   kafka.ErrorCode // ends the producer; None while it works
}

// identify is what a round does before any batch may go; false: none may, look
// again after wait at the latest.
func (p *Producer) identify() (ready bool, wait time.Duration) {
	if !p.cfg.Idempotence {
		return true, 0
	}
	p.resolve()
	if p.fatal != kafka.None {
		p.failAll()
		return false, never
	}
	if p.bumpDue && p.as != noIdentity {
		p.bump()
	}
	if p.as != noIdentity {
		return true, 0
	}
	if now := p.env.Now(); !p.asking && now >= p.askAt {
		p.ask()
	}
	if p.asking {
		return false, never
	}
	return false, p.askAt - p.env.Now()
}

// ask asks a broker for a producer id.
func (p *Producer) ask() {
	p.asking = true
	p.client.InitProducerID(func(id kafka.ProducerID, epoch kafka.ProducerEpoch, code kafka.ErrorCode) {
		p.asking = false
		switch {
		case code == kafka.None:
			p.as = identity{id, epoch}
			p.renumber()
		case client.Retriable(code):
			p.askAt = p.env.Now() + p.client.Retry().First
		default:
			p.fatal = code
		}
	})
}

// EpochBumpEffect is the text of the event that tells of a partition whose
// batches a producer numbers anew under a new epoch, because one of them is lost
// or its fate unknown (KIP-360).
const EpochBumpEffect = "producer epoch bump"

// bumpFor asks for a new epoch on behalf of a partition.
func (p *Producer) bumpFor(q *queue) {
	q.sequencer.restartDue = true
	p.bumpDue = true
}

// bump raises the epoch, which a producer without transactions may do alone. At
// the last epoch it needs another id; what asked for the bump is numbered when
// that is there.
func (p *Producer) bump() {
	if p.as.epoch == lastEpoch {
		p.as = noIdentity
		return
	}
	p.as.epoch++
	p.renumber()
}

// renumber starts the partitions that asked for it anew. Others follow when
// they have nothing in flight (KAFKA-12152).
func (p *Producer) renumber() {
	p.bumpDue = false
	p.acc.each(func(_ *topicQueues, q *queue) {
		if !q.sequencer.restartDue {
			return
		}
		q.sequencer.restart(p.as)
		e := event.New(event.Effect)
		e.Topic, e.Partition, e.Text = q.tp.Topic, q.tp.Partition, EpochBumpEffect
		p.env.Emit(&e)
	})
}

// resolve looks at partitions of which a batch expired with its fate unknown, once
// none of their batches is in flight any more: if a later one was acknowledged,
// so was that one; else the sequences may have a gap.
func (p *Producer) resolve() {
	p.acc.each(func(_ *topicQueues, q *queue) {
		s := &q.sequencer
		if !s.unresolved || len(s.inFlight) > 0 {
			return
		}
		s.unresolved = false
		if s.next != s.acked.Add(1) {
			p.bumpFor(q)
		}
	})
}

// retryOutOfOrder judges an OUT_OF_ORDER_SEQUENCE_NUMBER, which is always tried
// again. If the batch is not the next one, an earlier one is still to come. If it
// is, the leader lost what came before, or that was never written: then the
// batches begin anew in a new epoch. While the fate of an expired batch is open,
// only the one right behind it can tell that.
func (p *Producer) retryOutOfOrder(b *batch) {
	s := &b.queue.sequencer
	if s.unresolved && b.base == s.expected || !s.unresolved && !b.renumbered && b.base == s.acked.Add(1) {
		p.bumpFor(b.queue)
	}
}

// failAll ends every record after a fatal error.
func (p *Producer) failAll() {
	var queued []*batch
	p.acc.each(func(_ *topicQueues, q *queue) {
		queued = append(queued, q.batches...)
		q.batches = nil
	})
	for _, b := range queued {
		p.acc.release(b)
		outcome := Failed
		if b.attempts > 0 {
			outcome = Unknown
		}
		p.fail(b, p.fatal, outcome)
	}
	for _, b := range p.inFlight {
		if !b.ended {
			p.fail(b, p.fatal, Unknown)
		}
	}
}
