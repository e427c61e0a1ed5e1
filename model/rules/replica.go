package rules

import "tidemark/model/kafka"

// Replica is what a partition replica decides.
type Replica struct {
	// StartFollowing tells a replica that becomes follower of a leader epoch
	// where its log must end before the first fetch: an offset from the log
	// start to the log end; the log end means no cut.
	StartFollowing func(FollowerLog) kafka.Offset
	// LastFetchedEpoch is what a follower's fetch says of the epoch of its last
	// record, given that epoch; NoEpoch keeps the leader from looking for a
	// divergence (KIP-595).
	LastFetchedEpoch func(last kafka.LeaderEpoch) kafka.LeaderEpoch
	// HostLeaderless: a replica is set up although its partition has no leader,
	// so that its high watermark stays in the checkpoint (KAFKA-1647).
	HostLeaderless bool
}

// FollowerLog is what a new follower knows of its own log.
// LogStart ≤ HighWatermark ≤ LogEnd.
type FollowerLog struct {
	LogStart      kafka.Offset
	HighWatermark kafka.Offset
	LogEnd        kafka.Offset
	LastEpoch     kafka.LeaderEpoch // NoEpoch for a log without epochs
}

// currentReplica follows leader epochs: since KIP-279 a follower keeps its
// records until the leader names the epoch in which the logs part, and since
// KIP-595 (for brokers: 2.7) the leader does so in its answer to the fetch.
func currentReplica() Replica {
	return Replica{
		StartFollowing:   keepUntilTold,
		LastFetchedEpoch: func(last kafka.LeaderEpoch) kafka.LeaderEpoch { return last },
		HostLeaderless:   true,
	}
}

// keepUntilTold cuts nothing, except from a log without epochs (empty, or of
// the old message formats): there the high watermark is all that is known.
func keepUntilTold(l FollowerLog) kafka.Offset {
	if l.LastEpoch == kafka.NoEpoch {
		return l.HighWatermark
	}
	return l.LogEnd
}
