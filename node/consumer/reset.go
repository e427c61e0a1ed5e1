package consumer

import (
	"tidemark/model/kafka"
	"tidemark/node/client"
)

// findPositions asks leaders where the partitions without a position begin.
func (c *Consumer) findPositions() {
	now := c.env.Now()
	var parts []*partition
	for _, p := range c.parts {
		if p.state == initializing && !p.stopped {
			c.initialize(p)
		}
		if p.state == awaitingReset && p.retryAt <= now {
			parts = append(parts, p)
		}
	}
	for _, g := range c.byLeader(parts, c.known) {
		c.askOffsets(g)
	}
}

// initialize finds the first position of a partition: with manual assignment
// and no committed offsets the policy decides.
func (c *Consumer) initialize(p *partition) {
	if c.cfg.ResetTo != Nowhere {
		p.reset(c.cfg.ResetTo, ReasonAssign)
		return
	}
	p.stopped = true
	c.listener.Failed(p.tp, kafka.NoOffset, kafka.OffsetOutOfRange)
}

func (c *Consumer) askOffsets(g group) {
	queries := make([]client.OffsetQuery, len(g.parts))
	for i, p := range g.parts {
		queries[i] = client.OffsetQuery{TP: p.tp, Epoch: c.client.Leader(p.tp).Epoch, At: p.resetTo}
		p.retryAt = c.env.Now() + c.cfg.RequestTimeout
	}
	c.client.ListOffsets(g.to, c.cfg.Isolation, queries, func(answers []client.ListedOffset, code kafka.ErrorCode) {
		for i, p := range g.parts {
			a := client.ListedOffset{Code: code}
			if code == kafka.None {
				a = answers[i]
			}
			c.toldOffset(p, queries[i], a)
		}
	})
}

// toldOffset makes an answer the position, if that is still what the partition
// waits for.
func (c *Consumer) toldOffset(p *partition, q client.OffsetQuery, a client.ListedOffset) {
	if c.partition(p.tp) != p || p.state != awaitingReset || p.resetTo != q.At {
		return
	}
	if a.Code != kafka.None {
		c.backOff(p, a.Code)
		return
	}
	before := p.pos.Offset
	p.seek(Position{a.Offset, a.Epoch, c.client.Leader(p.tp)})
	c.listener.Moved(p.tp, before, a.Offset, p.resetReason)
}

// EndOffset asks for the offset past the last visible record of a partition, for
// this isolation level, as often as it takes. done does not run after Close.
func (c *Consumer) EndOffset(tp kafka.TopicPartition, done func(kafka.Offset)) {
	c.client.Want(tp.Topic)
	c.endOffset(tp, 1, done)
}

func (c *Consumer) endOffset(tp kafka.TopicPartition, attempt int, done func(kafka.Offset)) {
	again := func() {
		c.client.RequestUpdate()
		c.timers.After(c.client.Retry().After(attempt, c.env, "end-offset-backoff"), func() {
			if !c.closed {
				c.endOffset(tp, attempt+1, done)
			}
		})
	}
	l := c.client.Leader(tp)
	if l.Leader == kafka.NoBroker {
		again()
		return
	}
	q := []client.OffsetQuery{{TP: tp, Epoch: l.Epoch, At: client.Latest}}
	c.client.ListOffsets(l.Leader, c.cfg.Isolation, q, func(answers []client.ListedOffset, code kafka.ErrorCode) {
		if code != kafka.None || answers[0].Code != kafka.None {
			again()
			return
		}
		done(answers[0].Offset)
	})
}
