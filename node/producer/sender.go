package producer

import (
	"slices"
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node/client"
)

// Poll does everything that is due: it is one round of Kafka's sender thread.
func (p *Producer) Poll() {
	p.expire()
	p.admit()
	wait, sent := p.round()
	for sent {
		wait, sent = p.round()
	}
	p.finish()
	p.sleep(wait)
}

// round sends one request to each broker that leads a batch which may go and
// can take it. Without one that was sent, wait is the time to the next round.
func (p *Producer) round() (wait time.Duration, sent bool) {
	if ready, wait := p.identify(); !ready {
		return wait, false
	}
	r := p.lookAround()
	if r.unknown {
		p.client.RequestUpdate()
	}
	for _, id := range r.nodes {
		takes := p.client.Ready(id)
		p.offer(id, takes)
		if takes {
			sent = p.sendTo(id) || sent
		} else if at := p.client.RetryAt(id); at > p.env.Now() {
			r.wait = min(r.wait, at-p.env.Now())
		}
	}
	return r.wait, sent
}

// sendTo puts what may go to a broker into one request, if there is anything.
func (p *Producer) sendTo(id kafka.BrokerID) bool {
	batches := p.drain(id)
	if len(batches) == 0 {
		return false
	}
	// A request lists its partitions in order, wherever the drain began.
	slices.SortStableFunc(batches, func(a, b *batch) int { return compare(a.queue.tp, b.queue.tp) })
	parts := make([]client.ProducePartition, len(batches))
	for i, b := range batches {
		b.sentEpoch = p.client.Leader(b.queue.tp).Epoch
		parts[i] = client.ProducePartition{TP: b.queue.tp, Records: b.seal()}
	}
	p.inFlight = append(p.inFlight, batches...)
	p.client.Produce(id, p.cfg.Acks, p.cfg.RequestTimeout, parts, func(answers []client.Produced, code kafka.ErrorCode) {
		for i, b := range batches {
			a := client.Produced{TP: b.queue.tp, Code: code, Base: kafka.NoOffset}
			if code == kafka.None {
				a = answers[i]
			}
			p.settle(b, a)
		}
	})
	return true
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

// settle takes the answer for a batch in.
func (p *Producer) settle(b *batch, a client.Produced) {
	p.inFlight = slices.DeleteFunc(p.inFlight, func(o *batch) bool { return o == b })
	b.queue.muted = false
	written := a.Code == kafka.None || p.cfg.Idempotence && a.Code == kafka.DuplicateSequenceNumber
	if written {
		b.queue.sequencer.acknowledge(b)
	}
	switch {
	case b.ended: // it expired meanwhile; the memory was kept for the request
		p.acc.release(b)
	case written:
		p.acknowledge(b, a.Base)
	case a.Code == kafka.MessageTooLarge && len(b.dones) > 1:
		p.divide(b)
	case p.triesAgain(b, a.Code):
		p.retry(b, a.Code)
	default:
		p.acc.release(b)
		p.fail(b, a.Code, outcomeOf(a.Code, b.attempts > 0))
		p.afterFailure(b, a.Code)
	}
	if client.NeedsMetadata(a.Code) {
		p.client.RequestUpdate()
	}
}

// triesAgain tells whether a batch that failed goes out again.
func (p *Producer) triesAgain(b *batch, code kafka.ErrorCode) bool {
	if b.attempts >= p.cfg.Retries || b.expired(p.env.Now(), p.cfg.DeliveryTimeout) {
		return false
	}
	if p.cfg.Idempotence && code == kafka.OutOfOrderSequenceNumber {
		p.retryOutOfOrder(b)
		return true
	}
	return client.Retriable(code)
}

// afterFailure sees to the sequences behind a batch that failed for good: they
// begin anew, as the gap that it leaves would stop them. One that used up its
// retries leaves no gap that is certain. Kafka takes it for certain if
// delivery.timeout.ms is what ended the retries, though the batch may be written.
func (p *Producer) afterFailure(b *batch, code kafka.ErrorCode) {
	if !p.cfg.Idempotence {
		return
	}
	b.queue.sequencer.remove(b)
	switch {
	case code == kafka.UnsupportedVersion:
		p.fatal = code
	case code == kafka.OutOfOrderSequenceNumber, b.attempts < p.cfg.Retries:
		p.bumpFor(b.queue)
	}
}

func (p *Producer) acknowledge(b *batch, base kafka.Offset) {
	p.acc.release(b)
	b.ended = true
	for i, done := range b.dones {
		o := kafka.NoOffset
		if base != kafka.NoOffset {
			o = base + kafka.Offset(i)
		}
		p.end(done, Result{TP: b.queue.tp, Offset: o, Code: kafka.None, Outcome: Acked, ProducerID: b.as.id, ProducerEpoch: b.as.epoch})
	}
}

// RetryEffect is the text of the event that tells of a batch that goes out again.
const RetryEffect = "produce retry"

func (p *Producer) retry(b *batch, why kafka.ErrorCode) {
	e := event.New(event.Effect)
	e.Topic, e.Partition, e.Code, e.Text = b.queue.tp.Topic, b.queue.tp.Partition, why, RetryEffect
	p.env.Emit(&e)
	b.attempts++
	b.lastAttempt = p.env.Now()
	b.backoff = p.client.Retry().After(b.attempts, p.env, "produce-backoff")
	b.queue.requeue(b)
}

func (p *Producer) divide(b *batch) {
	parts := b.split(p.cfg.BatchSize)
	p.acc.release(b)
	for _, part := range parts {
		part.attempts, part.lastAttempt, part.backoff = b.attempts, b.lastAttempt, b.backoff
		p.acc.memory += part.memory
	}
	b.queue.sequencer.divide(b, parts)
	b.queue.requeue(parts...)
}

func (p *Producer) fail(b *batch, code kafka.ErrorCode, o Outcome) {
	b.ended = true
	for _, done := range b.dones {
		p.end(done, Result{TP: b.queue.tp, Offset: kafka.NoOffset, Code: code, Outcome: o, ProducerID: b.as.id, ProducerEpoch: b.as.epoch})
	}
}

// expire ends the batches whose delivery.timeout.ms is over, queued or in
// flight. A timeout proves nothing, for Kafka's TimeoutException does not say
// whether the batch was ever sent. The memory of one in flight is kept until
// its request ends, as the request still reads it (KAFKA-19012).
func (p *Producer) expire() {
	now := p.env.Now()
	for _, b := range p.acc.takeExpired(now) {
		p.acc.release(b)
		b.queue.sequencer.expire(b)
		p.fail(b, kafka.RequestTimedOut, Unknown)
	}
	for _, b := range slices.Clone(p.inFlight) {
		if !b.ended && b.expired(now, p.cfg.DeliveryTimeout) {
			b.queue.sequencer.expire(b)
			p.fail(b, kafka.RequestTimedOut, Unknown)
		}
	}
}

// sleep sets the timer for the next round that time alone makes necessary.
func (p *Producer) sleep(wait time.Duration) {
	now := p.env.Now()
	at := never
	if wait < never-now {
		at = now + wait
	}
	if len(p.blocked) > 0 {
		at = min(at, p.blocked[0].until)
	}
	p.acc.each(func(_ *topicQueues, q *queue) {
		if len(q.batches) > 0 {
			at = min(at, q.batches[0].created+p.cfg.DeliveryTimeout)
		}
	})
	for _, b := range p.inFlight {
		if !b.ended {
			at = min(at, b.created+p.cfg.DeliveryTimeout)
		}
	}
	if at == never || p.timer != 0 && p.timerAt <= at {
		return
	}
	p.timers.Cancel(p.timer)
	p.timerAt = at
	p.timer = p.timers.After(at-now, func() { p.timer = 0 })
}
