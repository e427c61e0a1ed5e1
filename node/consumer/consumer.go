package consumer

import (
	"slices"
	"time"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/client"
)

// Listener is told what a poll does not return. Its methods may not call the
// consumer.
type Listener interface {
	// Moved: a position moved without consumption; reason is one of the
	// Reason constants.
	Moved(tp kafka.TopicPartition, before, after kafka.Offset, reason string)
	// Truncated: the log was cut below the position. end is where it diverged
	// and epoch the epoch there, or NoOffset and NoEpoch if the leader could
	// not say. Moved follows, unless auto.offset.reset is none: then the
	// partition stops.
	Truncated(tp kafka.TopicPartition, position, end kafka.Offset, epoch kafka.LeaderEpoch)
	// Failed: Kafka's consumer would throw. After OffsetOutOfRange (no reset
	// policy), and CorruptMessage found in the records themselves, the partition
	// stops until a Seek; other errors are tried again.
	Failed(tp kafka.TopicPartition, position kafka.Offset, code kafka.ErrorCode)
}

// Consumer is one consumer with manual assignment. Its host calls Poll after
// every input of the lane and hands connections' input to the Client beneath
// first.
type Consumer struct {
	env      node.Env
	timers   *node.Timers
	client   *client.Client
	cfg      Config
	listener Listener

	parts    []*partition // assigned, sorted
	buffered []*partition // with data, in order of arrival
	sessions map[kafka.BrokerID]*session
	closed   bool
	inflater record.Inflater

	timer   node.TimerID // 0: none runs
	timerAt time.Duration
}

// New returns a consumer without assignment over a client that it alone uses.
func New(env node.Env, timers *node.Timers, c *client.Client, cfg Config, l Listener) *Consumer {
	return &Consumer{env: env, timers: timers, client: c, cfg: cfg, listener: l, sessions: map[kafka.BrokerID]*session{}}
}

// Assign replaces the assignment. A partition that stays keeps its position; a
// new one finds one by auto.offset.reset, unless a Seek comes first.
func (c *Consumer) Assign(tps []kafka.TopicPartition) {
	tps = slices.Clone(tps)
	slices.SortStableFunc(tps, compare)
	var parts []*partition
	for _, tp := range slices.Compact(tps) {
		c.client.Want(tp.Topic)
		p := c.partition(tp)
		if p == nil {
			p = &partition{tp: tp, pos: noPosition, hw: kafka.NoOffset}
		}
		parts = append(parts, p)
	}
	c.parts = parts
	c.buffered = slices.DeleteFunc(c.buffered, func(p *partition) bool { return c.partition(p.tp) != p })
}

// Assignment is the assigned partitions, sorted.
func (c *Consumer) Assignment() []kafka.TopicPartition {
	tps := make([]kafka.TopicPartition, len(c.parts))
	for i, p := range c.parts {
		tps[i] = p.tp
	}
	return tps
}

func compare(a, b kafka.TopicPartition) int {
	switch {
	case a.Less(b):
		return -1
	case b.Less(a):
		return 1
	}
	return 0
}

func (c *Consumer) partition(tp kafka.TopicPartition) *partition {
	i, ok := slices.BinarySearchFunc(c.parts, tp, func(p *partition, tp kafka.TopicPartition) int { return compare(p.tp, tp) })
	if !ok {
		return nil
	}
	return c.parts[i]
}

// assigned is the partition; asking for one that is not assigned is a bug of
// the caller.
func (c *Consumer) assigned(tp kafka.TopicPartition) *partition {
	p := c.partition(tp)
	if p == nil {
		panic("consumer: " + tp.String() + " is not assigned")
	}
	return p
}

// Seek moves a position to an offset of which nothing else is known.
func (c *Consumer) Seek(tp kafka.TopicPartition, offset kafka.Offset) {
	p := c.assigned(tp)
	reason := seekReason(p)
	before := p.pos.Offset
	p.seek(Position{offset, kafka.NoEpoch, c.client.Leader(tp)})
	c.listener.Moved(tp, before, offset, reason)
}

// SeekTo moves a position to the first offset (client.Earliest) or past the
// last one (client.Latest), as soon as the leader has told it.
func (c *Consumer) SeekTo(tp kafka.TopicPartition, to kafka.Timestamp) {
	p := c.assigned(tp)
	p.reset(to, seekReason(p))
}

func seekReason(p *partition) string {
	if p.pos.Offset == kafka.NoOffset {
		return ReasonAssign
	}
	return ReasonSeek
}

// Position is where the next poll goes on; Offset is NoOffset before that is
// known.
func (c *Consumer) Position(tp kafka.TopicPartition) Position { return c.assigned(tp).pos }

// HighWatermark is the high watermark that the partition's present leader told
// with its last fetch answer; false before one.
func (c *Consumer) HighWatermark(tp kafka.TopicPartition) (kafka.Offset, bool) {
	p := c.assigned(tp)
	return p.hw, p.hw != kafka.NoOffset
}

// Close ends everything; no callback follows.
func (c *Consumer) Close() {
	c.closed = true
	c.parts, c.buffered = nil, nil
	c.timers.Cancel(c.timer)
	c.client.Close()
}

// group is the partitions of a request to one broker.
type group struct {
	to    kafka.BrokerID
	parts []*partition
}

// byLeader groups partitions by who leads them, brokers ascending. Without a
// known leader it asks for metadata.
func (c *Consumer) byLeader(parts []*partition, leader func(*partition) kafka.BrokerID) []group {
	var groups []group
	for _, p := range parts {
		id := leader(p)
		if id == kafka.NoBroker {
			c.client.RequestUpdate()
			continue
		}
		i, ok := slices.BinarySearchFunc(groups, id, func(g group, id kafka.BrokerID) int { return int(g.to) - int(id) })
		if !ok {
			groups = slices.Insert(groups, i, group{to: id})
		}
		groups[i].parts = append(groups[i].parts, p)
	}
	return groups
}

// known is the partition's leader as metadata knows it now.
func (c *Consumer) known(p *partition) kafka.BrokerID { return c.client.Leader(p.tp).Leader }

// backOff makes a partition wait after an error, and asks for metadata if the
// error says that it is old.
func (c *Consumer) backOff(p *partition, code kafka.ErrorCode) {
	p.failures++
	p.retryAt = c.env.Now() + c.client.Retry().After(p.failures, c.env, "consumer-backoff")
	if client.NeedsMetadata(code) || code == kafka.OffsetNotAvailable || code == kafka.UnknownLeaderEpoch {
		c.client.RequestUpdate()
	}
}
