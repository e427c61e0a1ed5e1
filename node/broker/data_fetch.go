package broker

import (
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/replica"
)

// parkedFetch is the lane's share of a fetch that waits for more bytes.
type parkedFetch struct {
	watch *replica.DelayedFetch
	told  int // bytes that the router was told of
}

// fetch reads the lane's share of a Fetch and answers the router at once. If
// the share alone gives no reason to answer the client, a watch stays behind;
// nothing can change between the read and the watch.
func (d *dataLane) fetch(m fetchPost) {
	d.stopFetch(m.ID)
	results := make([]fetchResult, len(m.Parts))
	left, first, read := m.MaxBytes, true, 0
	for i, part := range m.Parts {
		r := part.Request
		r.MaxBytes, r.MinOneBatch = min(r.MaxBytes, left), first
		results[i] = fetchResult{Index: part.Index, FetchResult: d.read(part.TP, r, m.Again)}
		n := results[i].Slice.Bytes
		left, read = max(left-n, 0), read+n
		first = first && n == 0
	}
	if m.Watch && parks(results, m.MinBytes) {
		d.watchFetch(m, read)
	}
	d.env.Post(node.Router, fetchedPost{ID: m.ID, Again: m.Again, Results: results})
}

func (d *dataLane) read(tp kafka.TopicPartition, r replica.FetchRequest, again bool) replica.FetchResult {
	h := d.hosted[tp]
	switch {
	case h == nil:
		return failedFetch(d.notHosted(tp))
	case again:
		return h.partition.ReadAgain(r)
	}
	return h.partition.Fetch(r)
}

// parks reports whether results alone leave a fetch waiting: no error, no
// divergence, and fewer than minBytes. Router and lanes decide by it alike.
func parks(results []fetchResult, minBytes int) bool {
	bytes := 0
	for _, r := range results {
		if r.Code != kafka.None || r.Diverging.Epoch != kafka.NoEpoch {
			return false
		}
		bytes += r.Slice.Bytes
	}
	return bytes < minBytes
}

func (d *dataLane) watchFetch(m fetchPost, read int) {
	p := &parkedFetch{watch: &replica.DelayedFetch{Reads: make([]replica.ParkedRead, len(m.Parts))}, told: read}
	for i, part := range m.Parts {
		p.watch.Reads[i] = replica.ParkedRead{TP: part.TP, Request: part.Request}
	}
	p.watch.Grown = func(bytes int, ready bool) {
		if !ready && bytes <= p.told {
			return
		}
		p.told = bytes
		d.env.Post(node.Router, fetchGrownPost{ID: m.ID, Bytes: bytes, Ready: ready})
	}
	d.parked[m.ID] = p
	d.purgatory.WatchFetch(p.watch)
}

func (d *dataLane) stopFetch(id workID) {
	if p := d.parked[id]; p != nil {
		delete(d.parked, id)
		d.purgatory.UnwatchFetch(p.watch)
	}
}
