package consumer

import (
	"tidemark/model/kafka"
	"tidemark/node/client"
)

// fetch sends a fetch to every broker that leads something to fetch and has
// none in flight. A broker with data that was not returned yet is left alone:
// its other partitions would push the buffered one out of the session.
func (c *Consumer) fetch() {
	now := c.env.Now()
	var parts []*partition
	for _, p := range c.parts {
		if p.fetchable(now) {
			parts = append(parts, p)
		}
	}
	leader := func(p *partition) kafka.BrokerID { return p.pos.Leader.Leader }
	for _, g := range c.byLeader(parts, leader) {
		s := c.session(g.to)
		if s.inFlight || c.hasBuffered(g.to) || !c.client.Ready(g.to) {
			continue
		}
		c.send(g, s)
	}
}

func (c *Consumer) session(id kafka.BrokerID) *session {
	if c.sessions[id] == nil {
		c.sessions[id] = &session{}
	}
	return c.sessions[id]
}

func (c *Consumer) hasBuffered(id kafka.BrokerID) bool {
	for _, p := range c.buffered {
		if p.pos.Leader.Leader == id {
			return true
		}
	}
	return false
}

func (c *Consumer) send(g group, s *session) {
	asked := make([]client.FetchPartition, len(g.parts))
	for i, p := range g.parts {
		asked[i] = client.FetchPartition{TP: p.tp, Epoch: p.pos.Leader.Epoch, Offset: p.pos.Offset, MaxBytes: c.cfg.PartitionBytes}
		if t, _ := c.client.Topic(p.tp.Topic); t != nil {
			asked[i].TopicID = t.ID
		}
	}
	call := client.FetchCall{MaxWait: c.cfg.MaxWait, Isolation: c.cfg.Isolation, MinBytes: c.cfg.MinBytes, MaxBytes: c.cfg.MaxBytes,
		SessionID: s.id, SessionEpoch: s.epoch}
	call.Partitions, call.Forgotten = s.build(asked)
	s.inFlight = true
	c.client.Fetch(g.to, call, func(a client.FetchAnswer, code kafka.ErrorCode) {
		s.inFlight = false
		c.answered(g.to, s, a, code)
	})
}

// answered buffers an answer's partitions; what they hold is looked at when
// they are returned.
func (c *Consumer) answered(from kafka.BrokerID, s *session, a client.FetchAnswer, code kafka.ErrorCode) {
	if code != kafka.None {
		s.broken()
		c.lost(from, code)
		return
	}
	s.answered(a)
	if client.NeedsMetadata(a.Code) || a.Code == kafka.FetchSessionTopicIDError {
		c.client.RequestUpdate()
	}
	for i := range a.Partitions {
		got := &a.Partitions[i]
		p := c.partition(got.TP)
		asked, ok := find(s.parts, got.TP)
		if p == nil || !ok || p.buffered != nil {
			continue
		}
		p.buffered = newFetched(*got, asked.Offset, c.cfg.Isolation, &c.inflater)
		c.buffered = append(c.buffered, p)
	}
}

// lost makes a broker's partitions wait after a fetch without answer, and
// forgets the high watermark that the broker told.
func (c *Consumer) lost(id kafka.BrokerID, code kafka.ErrorCode) {
	for _, p := range c.parts {
		if p.state == fetching && p.pos.Leader.Leader == id {
			p.hw = kafka.NoOffset
			c.backOff(p, code)
		}
	}
}

// fetchFailed acts on a partition's error. Where Kafka's client asks again in
// its next poll, this one waits for retry.backoff.ms, unless a new leader shows
// up before.
func (c *Consumer) fetchFailed(p *partition, code kafka.ErrorCode) {
	switch {
	case code == kafka.OffsetOutOfRange && c.cfg.ResetTo != Nowhere:
		p.reset(c.cfg.ResetTo, ReasonOutOfRange)
		c.findPositions()
	case code == kafka.OffsetOutOfRange:
		p.stopped = true
		c.listener.Failed(p.tp, p.pos.Offset, code)
	case client.Retriable(code) && code != kafka.CorruptMessage || code == kafka.UnknownServerError:
		c.backOff(p, code)
	default:
		c.backOff(p, code)
		c.listener.Failed(p.tp, p.pos.Offset, code)
	}
}
