package replica

import "tidemark/model/kafka"

// DeleteStatus is one partition of a DeleteRecords request.
type DeleteStatus struct {
	TP kafka.TopicPartition
	// Required is the offset that the low watermark must reach.
	Required kafka.Offset
	// Low is the answer's low watermark, NoOffset unless Code is None.
	Low  kafka.Offset
	Code kafka.ErrorCode // a raise that failed is not waited for
	// pending tells that the partition is waited for.
	pending bool
}

// DelayedDelete is a DeleteRecords request whose log starts were raised at the
// leaders, and which waits for the followers.
type DelayedDelete struct {
	Partitions []DeleteStatus
	// Done is called once, with every Code and Low final.
	Done func([]DeleteStatus)

	pending int
	done    bool
}

// WatchDelete completes d if it can; else d waits, and the caller sets a timer of
// the request's timeout that calls ExpireDelete.
func (g *Purgatory) WatchDelete(d *DelayedDelete) (done bool) {
	for i := range d.Partitions {
		s := &d.Partitions[i]
		s.Low = kafka.NoOffset
		if s.Code == kafka.None {
			s.pending = true
			d.pending++
			g.watch(s.TP, d)
		}
	}
	d.tryComplete(g)
	return d.done
}

// ExpireDelete answers what the followers did not do in time.
func (g *Purgatory) ExpireDelete(d *DelayedDelete) {
	for i := range d.Partitions {
		if s := &d.Partitions[i]; s.pending {
			d.settle(g, s, kafka.NoOffset, kafka.RequestTimedOut)
		}
	}
	d.answer()
}

func (d *DelayedDelete) tryComplete(g *Purgatory) {
	if d.done {
		return
	}
	for i := range d.Partitions {
		if s := &d.Partitions[i]; s.pending {
			d.check(g, s)
		}
	}
	if d.pending == 0 {
		d.answer()
	}
}

// check settles a partition whose low watermark is there, or that this broker
// cannot speak for any more.
func (d *DelayedDelete) check(g *Purgatory, s *DeleteStatus) {
	p, code := g.lookup(s.TP)
	if p == nil {
		d.settle(g, s, kafka.NoOffset, code)
		return
	}
	if code := p.checkAccess(kafka.NoEpoch, true); code != kafka.None {
		d.settle(g, s, kafka.NoOffset, code)
	} else if low := p.LowWatermark(); low >= s.Required {
		d.settle(g, s, low, kafka.None)
	}
}

func (d *DelayedDelete) answer() {
	d.done = true
	d.Done(d.Partitions)
}

func (d *DelayedDelete) settle(g *Purgatory, s *DeleteStatus, low kafka.Offset, code kafka.ErrorCode) {
	s.Low, s.Code, s.pending = low, code, false
	d.pending--
	g.unwatch(s.TP, d)
}
