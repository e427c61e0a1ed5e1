package replica

import (
	"slices"
	"time"

	"tidemark/model/kafka"
	"tidemark/model/rules"
)

// Fetcher copies from one leader the partitions that this lane follows there:
// Kafka's fetcher thread. It has one request in flight at a time, and does not
// send while the disk has to finish first.
//
//	        ┌───────────── answer, back-off over ────────────┐
//	        ▼                                                │
//	Add ─▶ fetching ──OFFSET_OUT_OF_RANGE──▶ asking latest ─▶ asking earliest
//	        │  ▲
//	        │  └─ diverging: cut, fetch again
//	        └──── error of the leader: back off; of our own: failed, dropped
//
// The caller sends what Next gives, hands in the answer, and asks again:
//
//	if ask, ok := f.Next(); ok { send it } else if at, ok := f.Wake(); ok { set a timer }
type Fetcher struct {
	leader kafka.BrokerID
	rules  rules.Replica
	config FetcherConfig
	host   FetcherHost

	byTP map[kafka.TopicPartition]*fetchEntry
	// order is the order of partitions in a request: one that got records goes
	// to the end, so that all have their turn at a size limit.
	order []*fetchEntry

	inFlight bool
	sent     map[kafka.TopicPartition]FetchAsk // of the fetch in flight
	asking   *fetchEntry                       // of the ListOffsets in flight
	awaiting int                               // disk operations that must end before the next request
}

// FetcherConfig holds the settings of a Fetcher.
type FetcherConfig struct {
	// Backoff is replica.fetch.backoff.ms.
	Backoff time.Duration
	// PartitionMaxBytes is replica.fetch.max.bytes, which is soft.
	PartitionMaxBytes int
}

// FetcherHost is what a Fetcher needs of its lane.
type FetcherHost interface {
	// Now is the lane's monotonic clock.
	Now() time.Duration
	// CheckpointRecoveryPoint makes the recovery point of a log that was cut
	// durable, and then calls done, at once or later. Were the log to grow again
	// first and the machine to lose power, recovery would trust records that were
	// never synced.
	CheckpointRecoveryPoint(p *Partition, done func())
	// Ready says that Next may have something after a wait for the disk.
	Ready(*Fetcher)
}

// fetchEntry is the state of one partition that is fetched.
type fetchEntry struct {
	partition *Partition
	epoch     kafka.LeaderEpoch // of the leader, when the entry was made
	offset    kafka.Offset      // to fetch next
	lastEpoch kafka.LeaderEpoch // of the record before; NoEpoch for none
	state     fetchState
	// delayedUntil is the end of a back-off.
	delayedUntil time.Duration
}

type fetchState uint8

const (
	fetching fetchState = iota
	askingLatest
	askingEarliest
)

// NewFetcher returns a fetcher from a leader, without partitions.
func NewFetcher(leader kafka.BrokerID, r rules.Replica, c FetcherConfig, host FetcherHost) *Fetcher {
	return &Fetcher{leader: leader, rules: r, config: c, host: host,
		byTP: map[kafka.TopicPartition]*fetchEntry{}, sent: map[kafka.TopicPartition]FetchAsk{}}
}

// Leader is the broker that is fetched from.
func (f *Fetcher) Leader() kafka.BrokerID { return f.leader }

// Len is the number of partitions that are fetched or back off.
func (f *Fetcher) Len() int { return len(f.order) }

// Add starts fetching a partition in its present leader epoch, after the cut
// that its rules ask for. An entry of the same epoch is left as it is.
func (f *Fetcher) Add(p *Partition) {
	if e := f.byTP[p.tp]; e != nil {
		if e.partition == p && e.epoch == p.leaderEpoch {
			return
		}
		f.Remove(p.tp)
	}
	e := &fetchEntry{partition: p, epoch: p.leaderEpoch}
	f.byTP[p.tp] = e
	f.order = append(f.order, e)
	f.cut(e, p.startFollowing)
}

// Remove stops fetching a partition. An answer that is under way is ignored.
func (f *Fetcher) Remove(tp kafka.TopicPartition) {
	e := f.byTP[tp]
	if e == nil {
		return
	}
	delete(f.byTP, tp)
	f.order = slices.DeleteFunc(f.order, func(o *fetchEntry) bool { return o == e })
}

// Wake is the end of the earliest back-off, if Next waits for one.
func (f *Fetcher) Wake() (at time.Duration, ok bool) {
	if f.inFlight || f.awaiting > 0 {
		return 0, false
	}
	for _, e := range f.order {
		if !ok || e.delayedUntil < at {
			at, ok = e.delayedUntil, true
		}
	}
	return at, ok
}

// backOff lets a partition rest. What it was doing begins again with a fetch.
func (f *Fetcher) backOff(e *fetchEntry) {
	e.state = fetching
	e.delayedUntil = f.host.Now() + f.config.Backoff
	f.moveToEnd(e)
}

// fail drops a partition that no further fetch can help: its own log is at fault,
// or its leader epoch is fenced. Only a new leader epoch brings it back.
func (f *Fetcher) fail(e *fetchEntry) {
	e.partition.traceEffect("replica fetch failed")
	f.Remove(e.partition.tp)
}

func (f *Fetcher) moveToEnd(e *fetchEntry) {
	i := slices.Index(f.order, e)
	f.order = append(slices.Delete(f.order, i, i+1), e)
}

// cut runs a truncation and goes on from the log end that it leaves.
func (f *Fetcher) cut(e *fetchEntry, truncate func() error) {
	log := e.partition.log
	before := log.RecoveryPoint()
	if truncate() != nil {
		f.fail(e)
		return
	}
	e.state = fetching
	e.offset, e.lastEpoch = log.LogEnd(), log.LastEpoch()
	f.keepRecoveryPoint(e.partition, before)
}

// keepRecoveryPoint waits for the checkpoint of a recovery point that fell.
func (f *Fetcher) keepRecoveryPoint(p *Partition, before kafka.Offset) {
	if p.log.RecoveryPoint() < before {
		f.host.CheckpointRecoveryPoint(p, f.await())
	}
}

// await keeps the fetcher from sending until the function that it returns is
// called.
func (f *Fetcher) await() (done func()) {
	f.awaiting++
	return func() {
		f.awaiting--
		if f.awaiting == 0 {
			f.host.Ready(f)
		}
	}
}
