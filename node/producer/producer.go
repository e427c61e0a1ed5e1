package producer

import (
	"slices"
	"time"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/client"
)

// Record is what an application hands over. Its slices must not change until
// the Result is there.
type Record struct {
	Topic     string
	Partition int32  // -1: the key decides, or without one the sticky partitioner
	Key       []byte // nil: none
	Value     []byte // nil: null
	Headers   []record.Header
	Timestamp kafka.Timestamp // CreateTime; 0: the producer's clock when it takes the record
}

// blockedSend is a record that the application still hands over: in the Java
// client send() would block its thread, so the sends behind it wait too.
type blockedSend struct {
	record Record
	done   func(Result)
	until  time.Duration // end of max.block.ms; never before it is the first
}

// Producer is one producer. Its host calls Poll after every input of the lane
// and hands connections' input to the Client beneath first.
type Producer struct {
	env    node.Env
	timers *node.Timers
	client *client.Client
	cfg    Config

	acc       accumulator
	blocked   []*blockedSend
	inFlight  []*batch // in order of their requests
	drainFrom map[kafka.BrokerID]int
	progress  map[kafka.BrokerID]*progress
	idempotence

	open    int // records without a Result
	closing bool
	closed  func()

	timer   node.TimerID // 0: none runs
	timerAt time.Duration
}

// New returns a producer over a client that it alone uses.
func New(env node.Env, timers *node.Timers, c *client.Client, cfg Config) *Producer {
	return &Producer{env: env, timers: timers, client: c, cfg: cfg, acc: accumulator{cfg: cfg, compressor: compressor{codec: cfg.Compression}},
		drainFrom: map[kafka.BrokerID]int{}, progress: map[kafka.BrokerID]*progress{}, idempotence: idempotence{as: noIdentity}}
}

// Send hands a record over; done runs once, perhaps before Send returns. A send
// after Close is a bug of the caller.
func (p *Producer) Send(r Record, done func(Result)) {
	if p.closing {
		panic("producer: send after close")
	}
	p.open++
	p.blocked = append(p.blocked, &blockedSend{record: r, done: done, until: never})
	if len(p.blocked) == 1 {
		p.admit()
	}
}

// Open is the number of records that have no Result yet.
func (p *Producer) Open() int { return p.open }

// Close sends what is left without lingering; done runs once everything has
// its Result and the connections are closed.
func (p *Producer) Close(done func()) {
	p.closing, p.closed = true, done
	p.finish()
}

func (p *Producer) finish() {
	if p.closed == nil || p.open > 0 {
		return
	}
	done := p.closed
	p.closed = nil
	p.timers.Cancel(p.timer)
	p.client.Close()
	done()
}

// end tells a sender the end of its record.
func (p *Producer) end(done func(Result), r Result) {
	p.open--
	done(r)
}

// admit lets blocked sends go on, in order, as far as metadata and memory allow.
func (p *Producer) admit() {
	for len(p.blocked) > 0 {
		s := p.blocked[0]
		if p.fatal != kafka.None {
			p.refuse(s, p.fatal)
			p.blocked = slices.Delete(p.blocked, 0, 1)
			continue
		}
		if s.until == never {
			s.until = p.env.Now() + p.cfg.MaxBlock
		}
		if !p.place(s) {
			if p.env.Now() < s.until {
				return
			}
			p.refuse(s, kafka.RequestTimedOut)
		}
		p.acc.starved = false
		p.blocked = slices.Delete(p.blocked, 0, 1)
	}
}

// refuse ends a send that was never accepted.
func (p *Producer) refuse(s *blockedSend, code kafka.ErrorCode) {
	tp := kafka.TopicPartition{Topic: s.record.Topic, Partition: s.record.Partition}
	p.end(s.done, Result{TP: tp, Offset: kafka.NoOffset, Code: code, Outcome: Failed, ProducerID: kafka.NoProducerID, ProducerEpoch: -1})
}

// partitions is the number of a topic's partitions, 0 if it is not known.
func (p *Producer) partitions(topic string) int {
	if t, ok := p.client.Topic(topic); ok {
		return len(t.Partitions)
	}
	return 0
}

// place accepts or refuses a record; false if it must wait for metadata or
// memory.
func (p *Producer) place(s *blockedSend) bool {
	r := &s.record
	p.client.Want(r.Topic)
	if t, ok := p.client.Topic(r.Topic); !ok && t != nil && t.Code == kafka.InvalidTopic {
		p.refuse(s, t.Code)
		return true
	}
	count := p.partitions(r.Topic)
	if count == 0 || int(r.Partition) >= count {
		p.client.RequestUpdate()
		return false
	}
	bound := record.UpperBound(r.Key, r.Value, r.Headers)
	if bound > p.cfg.MaxRequestSize || int64(bound) > p.cfg.BufferMemory {
		p.refuse(s, kafka.MessageTooLarge)
		return true
	}
	t := p.acc.topic(r.Topic)
	partition, free := p.choose(t, r, count)
	q := t.queue(partition)
	stamp := r.Timestamp
	if stamp == 0 {
		stamp = p.env.Wall()
	}
	grown, placed := p.acc.add(q, r, bound, stamp, p.env.Now(), s.done)
	if !placed {
		p.acc.starved = true
		return false
	}
	if free {
		t.sticky.note(grown, q.full())
	}
	return true
}

// choose is the record's partition; free tells that the sticky partitioner
// chose it.
func (p *Producer) choose(t *topicQueues, r *Record, count int) (partition int32, free bool) {
	if r.Partition >= 0 {
		return r.Partition, false
	}
	if r.Key != nil && !p.cfg.IgnoreKeys {
		return PartitionForKey(r.Key, count), false
	}
	if t.sticky.chosen {
		t.sticky.note(0, t.queue(t.sticky.current).full())
	}
	leaders := make([]leader, count)
	for i := range leaders {
		leaders[i] = p.client.Leader(kafka.TopicPartition{Topic: r.Topic, Partition: int32(i)}).Leader
	}
	return t.sticky.partition(leaders, func() uint64 { return p.env.Rand("partitioner") }), true
}
