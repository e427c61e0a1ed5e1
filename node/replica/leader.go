package replica

import (
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// BecomeLeader applies metadata that names this replica as leader. The caller
// has stopped fetching for the partition. It reports whether a new leader epoch
// began.
//
// The order is Kafka's. The epoch's start is written to the epoch cache before
// any follower can ask for it, even if no record of the epoch follows: a
// follower may hold records of an epoch that this log never had (KIP-279). And
// the high watermark is tried last, when it is known whom to wait for.
func (p *Partition) BecomeLeader(s State) (newEpoch bool) {
	if p.stale(s) {
		return false
	}
	newLeader := !p.IsLeader()
	newEpoch = s.LeaderEpoch > p.leaderEpoch
	p.leader = p.local
	p.assignRemotes(s.Replicas)
	changed := p.commitISR(s.ISR, s.PartitionEpoch)
	if newEpoch {
		p.beginEpoch(s, newLeader)
	} else if changed {
		p.traceISR(event.ISRApplied, s.ISR, "metadata")
	}
	p.maybeIncrementHighWatermark()
	return newEpoch
}

// beginEpoch starts the leader's bookkeeping for a leader epoch.
func (p *Partition) beginEpoch(s State, newLeader bool) {
	p.leaderEpoch = s.LeaderEpoch
	p.epochStart = p.log.LogEnd()
	if err := p.log.AssignEpoch(p.leaderEpoch, p.epochStart); err != nil {
		p.storageFailed(err)
	}
	now := p.host.Now()
	for i := range p.remotes {
		r := &p.remotes[i]
		r.reset(now, p.epochStart, newLeader, contains(s.ISR, r.broker))
	}
	p.traceBecameLeader()
}

// assignRemotes makes the remote replicas those of the assignment and keeps
// what is known of the ones that stay.
func (p *Partition) assignRemotes(replicas []kafka.BrokerID) {
	remotes := make([]remoteReplica, 0, len(replicas))
	for _, b := range replicas {
		if b == p.local {
			continue
		}
		if r := p.remote(b); r != nil {
			remotes = append(remotes, *r)
		} else {
			remotes = append(remotes, unknownReplica(b))
		}
	}
	p.remotes = remotes
}

// remote finds the state of an assigned follower, nil for any other broker.
func (p *Partition) remote(b kafka.BrokerID) *remoteReplica {
	for i := range p.remotes {
		if p.remotes[i].broker == b {
			return &p.remotes[i]
		}
	}
	return nil
}
