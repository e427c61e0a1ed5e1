package consumer

import (
	"slices"
	"time"

	"tidemark/model/kafka"
)

// Polled is what a poll returns of one partition: records, or a position that
// moved over control batches, aborted and compacted records alone.
type Polled struct {
	TP            kafka.TopicPartition
	Before, After kafka.Offset // positions
	HighWatermark kafka.Offset // as the answer told
	LastStable    kafka.Offset // the last stable offset, as the answer told
	Records       []Record
}

// Poll returns what has arrived, up to max.poll.records, and does everything
// that is due. The host calls it until it returns nothing.
func (c *Consumer) Poll() []Polled {
	if c.closed {
		return nil
	}
	for _, p := range c.parts {
		p.follow(c.client.Leader(p.tp))
	}
	c.findPositions()
	c.validate()
	polled := c.collect()
	c.fetch()
	c.sleep()
	return polled
}

// collect takes records from the buffers, in order of arrival.
func (c *Consumer) collect() []Polled {
	var polled []Polled
	left := c.cfg.MaxPollRecords
	for left > 0 && len(c.buffered) > 0 {
		p := c.buffered[0]
		f := p.buffered
		if p.state != fetching || p.stopped || f.next != p.pos.Offset {
			c.unbuffer(p) // a seek, a reset or a new leader came between
			continue
		}
		if f.answer.Code != kafka.None {
			c.unbuffer(p)
			c.fetchFailed(p, f.answer.Code)
			continue
		}
		r := c.takeFrom(p, f, left)
		left -= len(r.Records)
		if len(r.Records) > 0 || r.After != r.Before {
			polled = append(polled, r)
		}
	}
	return polled
}

// takeFrom moves the position over up to n records.
func (c *Consumer) takeFrom(p *partition, f *fetched, n int) Polled {
	p.failures, p.retryAt = 0, 0
	p.hw = f.answer.HighWatermark
	r := Polled{TP: p.tp, Before: p.pos.Offset, HighWatermark: p.hw, LastStable: f.answer.LastStable}
	recs, err := f.take(n, c.cfg.CheckCRCs)
	r.Records, r.After = recs, f.next
	p.pos.Offset = f.next
	if f.epoch != kafka.NoEpoch {
		p.pos.Epoch = f.epoch
	}
	if err != nil {
		p.stopped = true
		c.listener.Failed(p.tp, p.pos.Offset, kafka.CorruptMessage)
	}
	if f.done || err != nil {
		c.unbuffer(p)
	}
	return r
}

func (c *Consumer) unbuffer(p *partition) {
	p.buffered = nil
	c.buffered = slices.DeleteFunc(c.buffered, func(o *partition) bool { return o == p })
}

// sleep sets the timer for the next poll that time alone makes necessary.
func (c *Consumer) sleep() {
	now := c.env.Now()
	at, ok := time.Duration(0), false
	consider := func(t time.Duration) {
		if t > now && (!ok || t < at) {
			at, ok = t, true
		}
	}
	for _, p := range c.parts {
		consider(p.retryAt)
		consider(c.client.RetryAt(c.known(p)))
	}
	if !ok || c.timer != 0 && c.timerAt <= at {
		return
	}
	c.timers.Cancel(c.timer)
	c.timerAt = at
	c.timer = c.timers.After(at-now, func() { c.timer = 0 })
}
