package producer

import (
	"slices"
	"time"

	"tidemark/model/kafka"
)

// readiness is what one look at all queues finds.
type readiness struct {
	nodes   []kafka.BrokerID // lead a batch that may go, sorted
	wait    time.Duration    // until some batch may go without anything new
	unknown bool             // a batch's partition has no known leader
}

const never = time.Duration(1<<63 - 1)

// lookAround finds the brokers that lead a batch which may go now, and weighs
// each topic's partitions for the sticky partitioner on the way.
func (p *Producer) lookAround() readiness {
	r := readiness{wait: never}
	for _, t := range p.acc.topics {
		var ids []int32
		var lengths []int
		count := p.partitions(t.name)
		weighed := p.cfg.Adaptive && count > 0 && t.open >= count
		for _, q := range t.queues {
			if q == nil {
				continue
			}
			l := p.client.Leader(q.tp)
			if l.Leader != kafka.NoBroker && weighed && !p.avoided(l.Leader) {
				ids, lengths = append(ids, q.tp.Partition), append(lengths, len(q.batches))
			}
			p.lookAt(q, l.Leader, l.Epoch, &r)
		}
		t.sticky.weigh(ids, lengths, len(ids) == t.open)
	}
	return r
}

// lookAt judges the first batch of a queue.
func (p *Producer) lookAt(q *queue, leader kafka.BrokerID, epoch kafka.LeaderEpoch, r *readiness) {
	if len(q.batches) == 0 {
		return
	}
	if leader == kafka.NoBroker {
		p.client.Want(q.tp.Topic) // or metadata forgets it while batches wait
		r.unknown = true
		return
	}
	i, known := slices.BinarySearch(r.nodes, leader)
	if known || q.muted {
		return
	}
	b, now := q.batches[0], p.env.Now()
	backingOff := b.backingOff(now, epoch)
	pause := p.cfg.Linger
	if backingOff {
		pause = b.backoff
	}
	waited := now - b.lastAttempt
	// With a second batch behind it, the first is full: it was closed.
	sendable := b.full() || waited >= pause || p.acc.starved || p.closing
	if sendable && !backingOff {
		r.nodes = slices.Insert(r.nodes, i, leader)
		return
	}
	r.wait = min(r.wait, max(pause-waited, 0))
}

// progress is when a broker last had batches to take, and last took them.
type progress struct {
	ready, drained time.Duration
}

// avoided reports whether a broker has been offered batches for longer than
// partitioner.availability.timeout.ms without taking any.
func (p *Producer) avoided(id kafka.BrokerID) bool {
	s := p.progress[id]
	return p.cfg.Availability > 0 && s != nil && s.ready-s.drained > p.cfg.Availability
}

// offer notes that a broker was offered batches, and whether it can take them.
func (p *Producer) offer(id kafka.BrokerID, takes bool) {
	if p.cfg.Availability == 0 {
		return
	}
	now := p.env.Now()
	s := p.progress[id]
	if s == nil {
		s = &progress{now, now}
		p.progress[id] = s
	}
	s.ready = now
	if takes {
		s.drained = now
	}
}

// drain takes one batch of each partition that a broker leads, up to
// max.request.size, beginning where the last drain stopped, so that no
// partition starves behind others. A batch that its sequence holds back ends the
// drain, as in Kafka.
func (p *Producer) drain(id kafka.BrokerID) []*batch {
	var led []*queue
	p.acc.each(func(_ *topicQueues, q *queue) {
		if p.client.Leader(q.tp).Leader == id {
			led = append(led, q)
		}
	})
	var taken []*batch
	size := 0
	first := p.drainFrom[id] % len(led)
	for i := range led {
		at := (first + i) % len(led)
		p.drainFrom[id] = at
		q := led[at]
		if !p.mayDrain(q) {
			continue
		}
		b := q.batches[0]
		if len(taken) > 0 && size+b.size() > p.cfg.MaxRequestSize {
			break
		}
		if p.cfg.Idempotence {
			if q.sequencer.holds(b, p.as) {
				break
			}
			q.sequencer.number(b, p.as)
		}
		q.batches = q.batches[1:]
		q.muted = p.cfg.MaxInFlight == 1
		size += b.size()
		taken = append(taken, b)
	}
	return taken
}

// mayDrain reports whether a queue's first batch may join a request that goes
// to its leader anyway. It need not have lingered.
func (p *Producer) mayDrain(q *queue) bool {
	return !q.muted && len(q.batches) > 0 && !q.batches[0].backingOff(p.env.Now(), p.client.Leader(q.tp).Epoch)
}
