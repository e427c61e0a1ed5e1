package replica

import "tidemark/model/kafka"

// ParkedRead is one partition of a fetch that waits for more bytes.
type ParkedRead struct {
	TP      kafka.TopicPartition
	Request FetchRequest
}

// DelayedFetch is one lane's share of a fetch that found less than its minimum
// of bytes. The request may span lanes, so whoever parked it adds the shares up;
// when they suffice, or time is up, every lane reads again with ReadAgain.
type DelayedFetch struct {
	Reads []ParkedRead
	// Grown is called whenever the share changes: bytes are readable now; ready
	// means that the fetch must not wait any longer, whatever its minimum.
	Grown func(bytes int, ready bool)

	bytes int
	ready bool
	gone  bool
}

// WatchFetch lets d wait until UnwatchFetch. Grown is called at once if there is
// something already.
func (g *Purgatory) WatchFetch(d *DelayedFetch) {
	for _, r := range d.Reads {
		g.watch(r.TP, d)
	}
	d.tryComplete(g)
}

// UnwatchFetch ends the wait.
func (g *Purgatory) UnwatchFetch(d *DelayedFetch) {
	d.gone = true
	for _, r := range d.Reads {
		g.unwatch(r.TP, d)
	}
}

func (d *DelayedFetch) tryComplete(g *Purgatory) {
	if d.gone {
		return
	}
	bytes, ready := 0, false
	for _, r := range d.Reads {
		p, _ := g.lookup(r.TP)
		if p == nil {
			ready = true
			continue
		}
		n, r := p.available(r.Request)
		bytes += n
		ready = ready || r
	}
	if bytes != d.bytes || ready != d.ready {
		d.bytes, d.ready = bytes, ready
		d.Grown(bytes, ready)
	}
}

// available tells how many bytes a parked read would find, and whether it must
// not wait any longer: because it would fail, or learn of a divergence, or
// because its offset is above the end or on an older segment than the end, where
// waiting for bytes makes no sense.
func (p *Partition) available(r FetchRequest) (bytes int, ready bool) {
	if p.checkFetch(r) != kafka.None {
		return 0, true
	}
	if at, code := p.divergence(r); at != noEpochEnd || code != kafka.None {
		return 0, true
	}
	bound := p.fetchBound(r)
	switch {
	case r.FetchOffset == bound:
		return 0, false
	case r.FetchOffset > bound || r.FetchOffset < p.log.LogStart():
		return 0, true
	case p.log.SegmentBase(r.FetchOffset) < p.log.SegmentBase(bound):
		return 0, true
	}
	slice, err := p.log.Read(r.FetchOffset, bound, r.MaxBytes, r.MinOneBatch)
	if err != nil {
		p.unreadable(err)
		return 0, true
	}
	slice.Region.Release()
	return slice.Bytes, false
}
