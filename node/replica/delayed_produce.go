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
type DelayedProduce struct {
	Partitions []ProduceStatus
	// Done is called once, with every Code final.
	Done func([]ProduceStatus)

	pending int
}

// TryProduceElseWatch completes d if it can; otherwise d waits, and the caller
// sets a timer of the request's timeout that calls ExpireProduce.
func (g *Purgatory) TryProduceElseWatch(d *DelayedProduce) (done bool) {
	for i := range d.Partitions {
		if s := &d.Partitions[i]; s.Code == kafka.None {
			s.pending = true
			d.pending++
			g.watch(s.TP, d)
		}
	}
	d.check(g)
	return d.pending == 0
}

// ExpireProduce answers what was not committed in time: the outcome is unknown.
func (g *Purgatory) ExpireProduce(d *DelayedProduce) {
	for i := range d.Partitions {
		if s := &d.Partitions[i]; s.pending {
			d.settle(g, s, kafka.RequestTimedOut)
		}
	}
	d.Done(d.Partitions)
}

func (d *DelayedProduce) tryComplete(g *Purgatory) {
	if d.pending > 0 {
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
		} else if done, code := p.committed(s.Required); done {
			d.settle(g, s, code)
		}
	}
	if d.pending == 0 {
		d.Done(d.Partitions)
	}
}

func (d *DelayedProduce) settle(g *Purgatory, s *ProduceStatus, code kafka.ErrorCode) {
	s.Code, s.pending = code, false
	d.pending--
	g.unwatch(s.TP, d)
}
