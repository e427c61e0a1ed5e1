package replica

import (
	"errors"
	"slices"
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
	"tidemark/node/storage"
)

// Partition is this broker's replica of a partition.
type Partition struct {
	tp      kafka.TopicPartition
	topicID kafka.UUID
	local   kafka.BrokerID
	config  Config
	log     *storage.Log
	rules   rules.Replica
	host    Host

	// What the metadata says. Epochs are -1 before it said anything.
	leader         kafka.BrokerID
	leaderEpoch    kafka.LeaderEpoch
	partitionEpoch kafka.PartitionEpoch

	// highWatermark is the leader's own, or what it told a follower last. The
	// true one is the largest that any leader of the partition has reached: a new
	// leader's own is below that until its followers have fetched from it. log start ≤ highWatermark ≤ log end offset.
	highWatermark kafka.Offset

	// The leader's part; empty at a follower.
	epochStart kafka.Offset // log end offset when leaderEpoch began here; NoOffset at a follower
	remotes    []remoteReplica
	isr        isrState

	scratch event.Event
}

// Config holds the settings that a replica follows.
type Config struct {
	// LagTimeMax is replica.lag.time.max.ms: how long a follower may stay
	// behind the leader's log end before it leaves the ISR.
	LagTimeMax time.Duration
	// MinISR is the topic's min.insync.replicas, from 1.
	MinISR int
}

// Options makes a Partition.
type Options struct {
	TP      kafka.TopicPartition
	TopicID kafka.UUID
	Local   kafka.BrokerID
	Config  Config
	// Log is the partition's log, already recovered.
	Log *storage.Log
	// HighWatermark comes from the checkpoint file; without an entry it is 0.
	HighWatermark kafka.Offset
	Rules         rules.Replica
	Host          Host
}

// New returns a replica that no metadata was applied to yet: it leads nothing
// and follows nobody. The checkpointed high watermark is brought into the log,
// which may have lost its end, or grown a later start, since.
func New(o Options) *Partition {
	p := &Partition{
		tp: o.TP, topicID: o.TopicID, local: o.Local, config: o.Config, log: o.Log, rules: o.Rules, host: o.Host,
		leader: kafka.NoBroker, leaderEpoch: kafka.NoEpoch, partitionEpoch: -1, epochStart: kafka.NoOffset,
	}
	p.highWatermark = p.withinLog(o.HighWatermark)
	p.log.SetHighWatermark(p.highWatermark)
	return p
}

// SetConfig changes the settings from now on.
func (p *Partition) SetConfig(c Config) { p.config = c }

// TP names the partition.
func (p *Partition) TP() kafka.TopicPartition { return p.tp }

// TopicID is the id of the topic that the log belongs to.
func (p *Partition) TopicID() kafka.UUID { return p.topicID }

// Log is the replica's log.
func (p *Partition) Log() *storage.Log { return p.log }

// LeaderEpoch is the epoch of the leader that the metadata names.
func (p *Partition) LeaderEpoch() kafka.LeaderEpoch { return p.leaderEpoch }

// PartitionEpoch is the newest partition epoch known, from the metadata or from
// an answer to AlterPartition.
func (p *Partition) PartitionEpoch() kafka.PartitionEpoch { return p.partitionEpoch }

// HighWatermark is the replica's high watermark: the offset that a checkpoint
// writes.
func (p *Partition) HighWatermark() kafka.Offset { return p.highWatermark }

// LastStable is the replica's last stable offset: consumers that read committed
// transactions alone read up to it.
func (p *Partition) LastStable() kafka.Offset { return p.log.LastStable() }

// IsLeader reports whether this replica leads the partition.
func (p *Partition) IsLeader() bool { return p.leader == p.local }

// ISR is the committed ISR that the leader knows, nil at a follower. It is
// never written to.
func (p *Partition) ISR() []kafka.BrokerID { return p.isr.committed }

// State is what the metadata says of a partition. Its slices are never written
// to once they are handed over.
type State struct {
	Leader         kafka.BrokerID // NoBroker for none
	LeaderEpoch    kafka.LeaderEpoch
	PartitionEpoch kafka.PartitionEpoch
	// Replicas are all assigned brokers, those that a reassignment adds or
	// removes included, in assignment order.
	Replicas []kafka.BrokerID
	ISR      []kafka.BrokerID
}

// stale reports whether the replica knows newer metadata than s. An equal
// partition epoch is not stale: the answer to AlterPartition may have told it
// before the metadata did.
func (p *Partition) stale(s State) bool { return s.PartitionEpoch < p.partitionEpoch }

// checkAccess is the guard before every request: the log directory is online,
// the request's leader epoch (NoEpoch: not given) is ours (KIP-320), and we lead
// if a leader is asked for. Epochs come first, so that a client learns who is
// out of date.
func (p *Partition) checkAccess(current kafka.LeaderEpoch, leaderOnly bool) kafka.ErrorCode {
	switch {
	case p.log.Failed() != nil:
		return kafka.KafkaStorageError
	case current != kafka.NoEpoch && current < p.leaderEpoch:
		return kafka.FencedLeaderEpoch
	case current != kafka.NoEpoch && current > p.leaderEpoch:
		return kafka.UnknownLeaderEpoch
	case leaderOnly && !p.IsLeader():
		return kafka.NotLeaderOrFollower
	}
	return kafka.None
}

// withinLog brings o into the log.
func (p *Partition) withinLog(o kafka.Offset) kafka.Offset {
	return min(max(o, p.log.LogStart()), p.log.LogEnd())
}

// storageFailed reports a disk error and gives the code that stands for it.
func (p *Partition) storageFailed(err error) kafka.ErrorCode {
	p.host.StorageFailed(p.tp, err)
	return kafka.KafkaStorageError
}

// unreadable is the answer of a read that found an error: bytes that are no batch
// are the reader's trouble, an error of the disk is the directory's.
func (p *Partition) unreadable(err error) kafka.ErrorCode {
	if errors.Is(err, record.ErrCorrupt) {
		return kafka.CorruptMessage
	}
	return p.storageFailed(err)
}

func contains(brokers []kafka.BrokerID, b kafka.BrokerID) bool { return slices.Contains(brokers, b) }
