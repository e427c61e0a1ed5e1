package replica

import (
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// isrState is the leader's view of the in-sync replicas.
//
//	committed ──propose──▶ pending ──answer, metadata──▶ committed
//
// The controller decides on the ISR and the leader learns of it late, so while a
// proposal is pending either set may be the one that the next election uses.
// The maximal ISR holds the members of both: whoever is in it is waited for. An
// expansion counts from the moment it is proposed, a shrink only when it is
// confirmed (KIP-497).
type isrState struct {
	committed []kafka.BrokerID
	maximal   []kafka.BrokerID // ⊇ committed; equal when nothing is pending
	pending   *Proposal        // nil: none. One at a time.
}

// Proposal asks the controller for an ISR: one partition of AlterPartition. It is
// immutable. The recovery state that it carries is always RECOVERED: a partition
// that was elected uncleanly is RECOVERING in the metadata, its leader has
// nothing to recover, and this is how the controller learns it.
type Proposal struct {
	TP      kafka.TopicPartition
	TopicID kafka.UUID
	// LeaderEpoch and PartitionEpoch are what the leader knows; the controller
	// refuses if it knows better.
	LeaderEpoch    kafka.LeaderEpoch
	PartitionEpoch kafka.PartitionEpoch
	ISR            []Member
}

// Member is a replica of a proposed ISR with the process life in which the
// leader saw it fetch (KIP-903); NoBrokerEpoch if it did not see one.
type Member struct {
	Broker kafka.BrokerID
	Epoch  kafka.BrokerEpoch
}

// ISRAnswer is the controller's answer to a proposal. Only Code counts unless it
// is None.
type ISRAnswer struct {
	Code           kafka.ErrorCode
	LeaderEpoch    kafka.LeaderEpoch
	PartitionEpoch kafka.PartitionEpoch
	ISR            []kafka.BrokerID
}

// eligible reports whether a replica may be in the ISR: its broker is alive, not
// fenced and not shutting down (KIP-841), and it is the same process life that
// has been fetching (KIP-903). A fetch too old to name its life passes.
func (p *Partition) eligible(r *remoteReplica) bool {
	b, registered := p.host.Broker(r.broker)
	return registered && !b.Fenced && !b.InControlledShutdown &&
		r.fetched && (r.brokerEpoch == kafka.NoBrokerEpoch || r.brokerEpoch == b.Epoch)
}

// maybeExpandISR proposes a follower that has just fetched. It must have reached
// the high watermark, and the start of this leader epoch too: a new leader's
// high watermark may lie below the true one, but its epoch start never does
// (KAFKA-7128).
func (p *Partition) maybeExpandISR(r *remoteReplica) {
	if p.isr.pending != nil || contains(p.isr.committed, r.broker) || !p.eligible(r) ||
		r.logEnd < p.highWatermark || r.logEnd < p.epochStart {
		return
	}
	expanded := append(slices.Clip(p.isr.committed), r.broker)
	p.isr.maximal = expanded
	p.propose(expanded, "expand")
}

// MaybeShrinkISR proposes the ISR without the followers that are not caught up,
// all of them at once. Kafka calls it every replica.lag.time.max.ms / 2, so that
// a follower that hangs leaves after 1.5 times that time at the latest. The
// leader never proposes its own removal.
func (p *Partition) MaybeShrinkISR() {
	if !p.IsLeader() || p.isr.pending != nil {
		return
	}
	inSync := make([]kafka.BrokerID, 0, len(p.isr.committed))
	for _, b := range p.isr.committed {
		if b == p.local || p.followerInSync(b) {
			inSync = append(inSync, b)
		}
	}
	if len(inSync) < len(p.isr.committed) {
		p.propose(inSync, "shrink")
	}
}

func (p *Partition) followerInSync(b kafka.BrokerID) bool {
	r := p.remote(b)
	return r != nil && r.caughtUp(p.host.Now(), p.log.LogEnd(), p.config.LagTimeMax)
}

// propose submits a change of the ISR to the controller.
func (p *Partition) propose(isr []kafka.BrokerID, change string) {
	members := make([]Member, len(isr))
	for i, b := range isr {
		members[i] = Member{b, p.lifeOf(b)}
	}
	p.isr.pending = &Proposal{TP: p.tp, TopicID: p.topicID, LeaderEpoch: p.leaderEpoch,
		PartitionEpoch: p.partitionEpoch, ISR: members}
	p.traceISR(event.ISRProposed, isr, change)
	p.host.SubmitISR(p.isr.pending)
}

// lifeOf is the broker epoch that vouches for a member.
func (p *Partition) lifeOf(b kafka.BrokerID) kafka.BrokerEpoch {
	if b == p.local {
		return p.host.LocalBrokerEpoch()
	}
	if r := p.remote(b); r != nil {
		return r.brokerEpoch
	}
	return kafka.NoBrokerEpoch
}

// ISRAnswered takes the controller's answer to a proposal. It is ignored if
// metadata has replaced the pending state since.
func (p *Partition) ISRAnswered(sent *Proposal, a ISRAnswer) {
	if p.isr.pending != sent {
		return
	}
	switch a.Code {
	case kafka.None:
		if a.LeaderEpoch == p.leaderEpoch && a.PartitionEpoch >= p.partitionEpoch {
			p.commitISR(a.ISR, a.PartitionEpoch)
			p.traceISR(event.ISRApplied, a.ISR, "answer")
			// The ISR may be down to the leader, and no fetch need come (KAFKA-13091).
			p.maybeIncrementHighWatermark()
		}
	case kafka.IneligibleReplica, kafka.OperationNotAttempted:
		// Nothing was changed and nothing will be: back to what is committed.
		p.isr.pending = nil
		p.isr.maximal = p.isr.committed
	case kafka.UnknownTopicOrPartition, kafka.UnknownTopicID, kafka.FencedLeaderEpoch, kafka.InvalidUpdateVersion,
		kafka.InvalidRequest, kafka.NewLeaderElected:
		// Newer metadata is on its way. Until it comes the stricter ISR holds.
	default:
		p.host.SubmitISR(sent)
	}
}

// commitISR takes an ISR that the controller has committed, drops whatever was
// pending, and reports whether it is another ISR than before.
func (p *Partition) commitISR(isr []kafka.BrokerID, epoch kafka.PartitionEpoch) (changed bool) {
	changed = !slices.Equal(isr, p.isr.committed)
	p.isr = isrState{committed: isr, maximal: isr}
	p.partitionEpoch = epoch
	return changed
}

// underMinISR reports whether the committed ISR is smaller than the topic asks
// for. A partition with fewer replicas than min.insync.replicas asks for all.
func (p *Partition) underMinISR() bool { return len(p.isr.committed) < p.effectiveMinISR() }

func (p *Partition) effectiveMinISR() int { return min(p.config.MinISR, len(p.remotes)+1) }
