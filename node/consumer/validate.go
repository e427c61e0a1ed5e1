package consumer

import (
	"tidemark/model/kafka"
	"tidemark/node/client"
)

// validate asks new leaders whether they have the log below the positions
// (KIP-320).
func (c *Consumer) validate() {
	now := c.env.Now()
	var parts []*partition
	for _, p := range c.parts {
		if p.state == awaitingValidation && !p.stopped && p.retryAt <= now {
			parts = append(parts, p)
		}
	}
	leader := func(p *partition) kafka.BrokerID { return p.pos.Leader.Leader }
	for _, g := range c.byLeader(parts, leader) {
		c.askEpochs(g)
	}
}

func (c *Consumer) askEpochs(g group) {
	queries := make([]client.EpochQuery, len(g.parts))
	asked := make([]Position, len(g.parts))
	for i, p := range g.parts {
		asked[i] = p.pos
		queries[i] = client.EpochQuery{TP: p.tp, Current: p.pos.Leader.Epoch, Epoch: p.pos.Epoch}
		p.retryAt = c.env.Now() + c.cfg.RequestTimeout
	}
	c.client.OffsetsForLeaderEpoch(g.to, queries, func(answers []client.EpochEnd, code kafka.ErrorCode) {
		for i, p := range g.parts {
			a := client.EpochEnd{Code: code}
			if code == kafka.None {
				a = answers[i]
			}
			c.toldEpoch(p, asked[i], a)
		}
	})
}

// toldEpoch compares the end of the position's epoch with the position, if
// that did not move meanwhile.
func (c *Consumer) toldEpoch(p *partition, asked Position, a client.EpochEnd) {
	if c.partition(p.tp) != p || p.state != awaitingValidation || p.pos != asked {
		return
	}
	switch {
	case a.Code != kafka.None:
		c.backOff(p, a.Code)
	case a.End == kafka.NoOffset || a.Epoch == kafka.NoEpoch:
		c.truncated(p, kafka.NoOffset, kafka.NoEpoch)
	case a.End < p.pos.Offset:
		c.truncated(p, a.End, a.Epoch)
	default:
		p.seek(p.pos)
	}
}

// truncated goes to where the log diverged, or if the leader cannot tell, to
// where the reset policy says; without a policy the application must decide.
func (c *Consumer) truncated(p *partition, end kafka.Offset, epoch kafka.LeaderEpoch) {
	before := p.pos.Offset
	c.listener.Truncated(p.tp, before, end, epoch)
	switch {
	case c.cfg.ResetTo == Nowhere:
		p.stopped = true
	case end == kafka.NoOffset:
		p.reset(c.cfg.ResetTo, ReasonTruncated)
	default:
		p.seek(Position{end, epoch, p.pos.Leader})
		c.listener.Moved(p.tp, before, end, ReasonTruncated)
	}
}
