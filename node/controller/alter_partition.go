package controller

import (
	"slices"

	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// AlterPartitionRequest is a leader's wish to change ISRs (KIP-497).
type AlterPartitionRequest struct {
	BrokerID    kafka.BrokerID // the leader
	BrokerEpoch kafka.BrokerEpoch
	Partitions  []PartitionProposal
}

// PartitionProposal is the ISR that a leader wants for one partition. The
// epochs are those it knows: the change is a compare-and-set.
type PartitionProposal struct {
	TopicID        kafka.UUID
	Partition      int32
	LeaderEpoch    kafka.LeaderEpoch
	PartitionEpoch kafka.PartitionEpoch
	ISR            []Member
	RecoveryState  metadata.RecoveryState
}

// Member is a replica with the broker epoch that its fetches carried (KIP-903);
// NoBrokerEpoch: not known, not checked.
type Member struct {
	ID    kafka.BrokerID
	Epoch kafka.BrokerEpoch
}

// PartitionAnswer is the partition after the change, or why there was none.
type PartitionAnswer struct {
	TopicID        kafka.UUID
	Partition      int32
	Code           kafka.ErrorCode
	Leader         kafka.BrokerID
	LeaderEpoch    kafka.LeaderEpoch
	ISR            []kafka.BrokerID
	RecoveryState  metadata.RecoveryState
	PartitionEpoch kafka.PartitionEpoch
}

// AlterPartition commits the ISRs that a leader proposes. Partitions succeed or
// fail one by one; the answer leaves when what succeeded is committed. A wish
// that is fulfilled already is answered with what is, without a record.
func (c *Controller) AlterPartition(req AlterPartitionRequest, reply func(kafka.ErrorCode, []PartitionAnswer)) {
	if !c.active {
		reply(kafka.NotController, nil)
		return
	}
	if code := c.checkBrokerEpoch(req.BrokerID, req.BrokerEpoch); code != kafka.None {
		reply(code, nil)
		return
	}
	var r result
	answers := make([]PartitionAnswer, 0, len(req.Partitions))
	for _, p := range req.Partitions {
		answers = append(answers, c.alterPartition(&r, req.BrokerID, p))
	}
	c.write(r, func(code kafka.ErrorCode) {
		if code != kafka.None {
			answers = nil
		}
		reply(code, answers)
	})
}

func (c *Controller) alterPartition(r *result, sender kafka.BrokerID, want PartitionProposal) PartitionAnswer {
	t, ok := c.image.TopicByID(want.TopicID)
	if !ok {
		return PartitionAnswer{TopicID: want.TopicID, Partition: want.Partition, Code: kafka.UnknownTopicID}
	}
	tp := kafka.TopicPartition{Topic: t.Name, Partition: want.Partition}
	if code := c.checkProposal(t, sender, want); code != kafka.None {
		c.refused(tp, sender, want, code)
		return PartitionAnswer{TopicID: want.TopicID, Partition: want.Partition, Code: code}
	}
	b := c.changeIn(t, want.Partition, noBrokerChange)
	b.isr = ids(want.ISR)
	b.recovery = want.RecoveryState
	p := *t.Partitions[want.Partition]
	if rec, how, ok := b.build(); ok {
		r.change(tp, rec, how)
		p.PartitionEpoch++
		p.ISR = b.isr
		p.RecoveryState = want.RecoveryState
	}
	return PartitionAnswer{TopicID: want.TopicID, Partition: want.Partition, Leader: p.Leader, LeaderEpoch: p.LeaderEpoch,
		ISR: p.ISR, RecoveryState: p.RecoveryState, PartitionEpoch: p.PartitionEpoch}
}

// checkProposal refuses a proposal for the first reason that holds. The order
// counts: a leader acts on the code.
func (c *Controller) checkProposal(t *metadata.TopicImage, sender kafka.BrokerID, want PartitionProposal) kafka.ErrorCode {
	if want.Partition < 0 || int(want.Partition) >= len(t.Partitions) {
		return kafka.UnknownTopicOrPartition
	}
	p := t.Partitions[want.Partition]
	isr := ids(want.ISR)
	switch {
	case want.LeaderEpoch > p.LeaderEpoch || want.PartitionEpoch > p.PartitionEpoch:
		return kafka.NotController // the sender has seen what this controller has not
	case want.LeaderEpoch < p.LeaderEpoch:
		return kafka.FencedLeaderEpoch
	case sender != p.Leader:
		return kafka.InvalidRequest
	case want.PartitionEpoch < p.PartitionEpoch:
		return kafka.InvalidUpdateVersion
	case !distinctReplicas(isr, p.Replicas) || !slices.Contains(isr, p.Leader):
		return kafka.InvalidRequest
	case want.RecoveryState == metadata.Recovering && (len(isr) > 1 || p.RecoveryState == metadata.Recovered):
		return kafka.InvalidRequest
	}
	for _, m := range want.ISR {
		if !c.eligible(m) {
			return kafka.IneligibleReplica
		}
	}
	return kafka.None
}

// eligible: a member must be active, and in the life in which it fetched. A
// replica that came back since may have lost what it had caught up with (R14).
func (c *Controller) eligible(m Member) bool {
	b, ok := c.image.Broker(m.ID)
	return ok && b.Active() && (m.Epoch == kafka.NoBrokerEpoch || m.Epoch == b.Epoch)
}

func ids(members []Member) []kafka.BrokerID {
	list := make([]kafka.BrokerID, 0, len(members))
	for _, m := range members {
		list = append(list, m.ID)
	}
	return list
}

// distinctReplicas reports whether ids are replicas, none of them twice.
func distinctReplicas(ids, replicas []kafka.BrokerID) bool {
	for i, id := range ids {
		if !slices.Contains(replicas, id) || slices.Contains(ids[:i], id) {
			return false
		}
	}
	return true
}
