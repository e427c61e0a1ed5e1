package replica

import "tidemark/model/kafka"

// ProduceStatus is one partition of a produce request.
type ProduceStatus struct {
	TP kafka.TopicPartition
	// Required is the offset that the high watermark must reach: the last one
	// appended (or found to be a duplicate) plus 1.
	Required kafka.Offset
	Result   ProduceResult
	// Code is the answer. An append that failed is not waited for.
	Code    kafka.ErrorCode
	pending bool
}

// DelayedProduce is a produce request with acks=all that was appended and waits
// to be committed.
//
//	append ── WatchProduce ──▶ may fail ── TryProduce ──▶ may succeed ──▶ Done
//	                           the fsync of flush.messages
//
// Kafka fsyncs under the lock that a change of leader takes too, so there none
// falls between append and watch. Here it may, and this broker may lead again when
// the fsync is done, with a log that was cut and has grown past the batch's offset:
// so the wait begins with the append, and the loss ends it.
type DelayedProduce struct {
	Partitions []ProduceStatus
	// Done is called once, with every Code final.
	Done func([]ProduceStatus)

	pending int
	flushed bool // the fsync is done, if one was due
	done    bool
}

// WatchProduce lets d wait from the callback of the append on. Until TryProduce
// nothing is answered but failures.
func (g *Purgatory) WatchProduce(d *DelayedProduce) {
	for i := range d.Partitions {
		if s := &d.Partitions[i]; s.Code == kafka.None {
			s.pending = true
			d.pending++
			g.watch(s.TP, d)
		}
	}
}

// TryProduce completes d if it can, now that what it appended is as durable as
// the topic wants; otherwise d waits on, and the caller sets a timer of the
// request's timeout that calls ExpireProduce.
func (g *Purgatory) TryProduce(d *DelayedProduce) (done bool) {
	d.flushed = true
	d.tryComplete(g)
	return d.done
}

// ExpireProduce answers what was not committed in time: the outcome is unknown.
func (g *Purgatory) ExpireProduce(d *DelayedProduce) {
	for i := range d.Partitions {
		if s := &d.Partitions[i]; s.pending {
			d.settle(g, s, kafka.RequestTimedOut)
		}
	}
	d.answer()
}

func (d *DelayedProduce) tryComplete(g *Purgatory) {
	if !d.done {
		d.check(g)
	}
}

// check settles every partition whose outcome is known, and is done when that
// was the last.
func (d *DelayedProduce) check(g *Purgatory) {
	for i := range d.Partitions {
		s := &d.Partitions[i]
		if !s.pending {
			continue
		}
		p, code := g.lookup(s.TP)
		if p == nil {
			d.settle(g, s, code)
		} else if done, code := p.committed(s.Required); done && (d.flushed || code != kafka.None) {
			d.settle(g, s, code)
		}
	}
	if d.pending == 0 {
		d.answer()
	}
}

func (d *DelayedProduce) answer() {
	d.done = true
	d.Done(d.Partitions)
}

func (d *DelayedProduce) settle(g *Purgatory, s *ProduceStatus, code kafka.ErrorCode) {
	s.Code, s.pending = code, false
	d.pending--
	g.unwatch(s.TP, d)
}
