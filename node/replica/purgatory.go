package replica

import "tidemark/model/kafka"

// Purgatory holds the requests of one lane that wait for its partitions: produce
// requests with acks=all, and fetches that found too little.
//
// A partition that changes only takes note. The lane tries the waiting requests
// at the end of its callback, when every step of what it does is done, as
// Kafka's action queue does; else a request could be answered in the middle of
// the append that completes it. Deadlines are the lane's timers.
type Purgatory struct {
	lookup  func(kafka.TopicPartition) (*Partition, kafka.ErrorCode)
	watched map[kafka.TopicPartition]*watchers
	changed []kafka.TopicPartition // in order of the first note
	spare   []*watchers            // of partitions that nobody waits for any more
	// trying is what Complete walks over, while the lists below change.
	trying []waiter
}

// waiter is a request that waits. tryComplete looks whether it can go on.
type waiter interface{ tryComplete(*Purgatory) }

// watchers are the requests that wait for one partition, oldest first.
type watchers struct {
	list    []waiter
	changed bool // noted already
}

// NewPurgatory returns an empty purgatory. The lookup finds a partition of the
// lane, or says why there is none: UNKNOWN_TOPIC_OR_PARTITION, or
// NOT_LEADER_OR_FOLLOWER if the metadata knows the partition elsewhere.
func NewPurgatory(lookup func(kafka.TopicPartition) (*Partition, kafka.ErrorCode)) *Purgatory {
	return &Purgatory{lookup: lookup, watched: map[kafka.TopicPartition]*watchers{}}
}

// Changed notes that requests which wait for tp may be ready.
func (g *Purgatory) Changed(tp kafka.TopicPartition) {
	if w := g.watched[tp]; w != nil && !w.changed {
		w.changed = true
		g.changed = append(g.changed, tp)
	}
}

// Complete tries all requests that wait for a changed partition. The lane calls
// it at the end of every callback.
func (g *Purgatory) Complete() {
	for i := 0; i < len(g.changed); i++ { // an answer may change more
		w := g.watched[g.changed[i]]
		if w == nil {
			continue // all that waited is gone
		}
		w.changed = false
		g.trying = append(g.trying[:0], w.list...)
		for _, r := range g.trying {
			r.tryComplete(g)
		}
	}
	g.changed = g.changed[:0]
}

func (g *Purgatory) watch(tp kafka.TopicPartition, r waiter) {
	w := g.watched[tp]
	if w == nil {
		if n := len(g.spare); n > 0 {
			w, g.spare = g.spare[n-1], g.spare[:n-1]
		} else {
			w = &watchers{}
		}
		g.watched[tp] = w
	}
	w.list = append(w.list, r)
}

func (g *Purgatory) unwatch(tp kafka.TopicPartition, r waiter) {
	w := g.watched[tp]
	if w == nil {
		return
	}
	kept := w.list[:0]
	for _, other := range w.list {
		if other != r {
			kept = append(kept, other)
		}
	}
	clear(w.list[len(kept):])
	w.list = kept
	if len(kept) == 0 {
		delete(g.watched, tp)
		w.changed = false
		g.spare = append(g.spare, w)
	}
}
