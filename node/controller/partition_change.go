package controller

import (
	"slices"

	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// election says how far an election may go.
type election uint8

const (
	// electOnline keeps the partition online from the ISR or ELR.
	electOnline election = iota
	// electPreferred does so too, but wants assignment[0] first.
	electPreferred
	// electUnclean may go on to any live replica.
	electUnclean
)

// How a leader came to lead, as the trace tells it.
const (
	howCreate          = "create"
	howClean           = "clean"
	howPreferred       = "preferred"
	howUnclean         = "unclean"
	howLastKnownLeader = "last-known-leader"
	howNone            = "none"
)

// partitionChange builds the one record that takes a partition from its state
// to a target. The order of its steps is that of Kafka's PartitionChangeBuilder:
// the ELR follows from the target ISR, then the election looks at both and may
// change both, then the record gets what differs.
type partitionChange struct {
	partition *metadata.PartitionImage
	topic     kafka.UUID
	number    int32
	// acceptable tells who may lead at all: active, and not on its way out.
	acceptable func(kafka.BrokerID) bool
	minISR     int
	elrEnabled bool
	election   election
	// unclean is a broker whose log may be short: it belongs in no ELR. NoBroker: none.
	unclean kafka.BrokerID

	isr, elr  []kafka.BrokerID  // targets
	directory *replicaDirectory // where a replica is now; nil: as before
	recovery  metadata.RecoveryState
}

// changeOf starts from the partition as it is.
func changeOf(p *metadata.PartitionImage, topic kafka.UUID, number int32) partitionChange {
	return partitionChange{partition: p, topic: topic, number: number, election: electOnline, unclean: kafka.NoBroker,
		isr: p.ISR, elr: p.ELR, recovery: p.RecoveryState}
}

// build gives the record and how its leader came to lead ("" without a new
// leader); ok is false when nothing would change.
func (c *partitionChange) build() (rec metadata.PartitionChange, how string, ok bool) {
	rec = metadata.NewPartitionChange(c.topic, c.number)
	c.populateELR()
	how = c.elect(&rec)
	c.recordELR(&rec)
	// With ELR an ISR may become empty. Without, its last member stays in it on
	// paper, and the partition waits for that one broker (E4).
	if rec.ISR == nil && (len(c.isr) > 0 || c.elrEnabled) {
		rec.ISR = changed(c.isr, c.partition.ISR)
	}
	c.recordLastKnownLeader(&rec)
	if c.recovery != c.partition.RecoveryState {
		rec.RecoveryState = c.recovery
	}
	c.recordDirectory(&rec)
	return rec, how, !rec.IsNoOp()
}

// changed gives target as the field of a record, nil if it equals current. An
// empty list is present in the record, so it must not be nil.
func changed(target, current []kafka.BrokerID) []kafka.BrokerID {
	if slices.Equal(target, current) {
		return nil
	}
	return append([]kafka.BrokerID{}, target...)
}

// populateELR derives the eligible leader replicas (KIP-966): whoever was in
// the ISR when it fell below min ISR holds all that was committed since,
// because the high watermark stands still from then on (R12).
func (c *partitionChange) populateELR() {
	if !c.elrEnabled {
		return
	}
	if len(c.isr) >= c.minISR {
		c.elr = nil
		return
	}
	var elr []kafka.BrokerID
	for _, id := range slices.Concat(c.elr, c.partition.ISR) {
		if id != c.unclean && !slices.Contains(c.isr, id) && !slices.Contains(elr, id) {
			elr = append(elr, id)
		}
	}
	slices.Sort(elr)
	c.elr = elr
}

// valid reports whether a replica may be elected without loss.
func (c *partitionChange) valid(id kafka.BrokerID) bool {
	inSync := slices.Contains(c.isr, id) || len(c.isr) == 0 && slices.Contains(c.elr, id)
	return inSync && c.acceptable(id)
}

// choose picks a leader by the rules of the election.
func (c *partitionChange) choose() (leader kafka.BrokerID, how string) {
	if c.election == electPreferred && c.valid(c.partition.Replicas[0]) {
		return c.partition.Replicas[0], howPreferred
	}
	if c.valid(c.partition.Leader) {
		return c.partition.Leader, howClean
	}
	for _, id := range c.partition.Replicas {
		if c.valid(id) {
			return id, howClean
		}
	}
	if c.lastKnownLeaderMayLead() {
		return c.partition.LastKnownELR[0], howLastKnownLeader
	}
	if c.election == electUnclean {
		for _, id := range c.partition.Replicas {
			if c.acceptable(id) {
				return id, howUnclean
			}
		}
	}
	return kafka.NoBroker, howNone
}

// lastKnownLeaderMayLead is the way out of an empty ISR and ELR that does not
// ask unclean.leader.election.enable (E6). A dead last known leader is not
// elected (KAFKA-19522).
func (c *partitionChange) lastKnownLeaderMayLead() bool {
	return c.elrEnabled && len(c.isr) == 0 && len(c.elr) == 0 &&
		len(c.partition.LastKnownELR) == 1 && c.acceptable(c.partition.LastKnownELR[0])
}

// elect writes a new leader into the record. Whoever comes from outside the
// ISR is alone in it.
func (c *partitionChange) elect(rec *metadata.PartitionChange) string {
	leader, how := c.choose()
	if leader == c.partition.Leader {
		return ""
	}
	if slices.Contains(c.elr, leader) {
		c.isr = []kafka.BrokerID{leader}
		c.elr = without(c.elr, leader)
	}
	rec.Leader = leader
	if how == howUnclean || how == howLastKnownLeader {
		rec.ISR = []kafka.BrokerID{leader}
		if c.partition.RecoveryState != metadata.Recovering {
			rec.RecoveryState = metadata.Recovering
		}
	}
	return how
}

// recordELR writes the ELR; an unclean election or a cluster without the
// feature has none.
func (c *partitionChange) recordELR(rec *metadata.PartitionChange) {
	if rec.ISR != nil || !c.elrEnabled {
		c.elr = nil
	}
	rec.ELR = changed(c.elr, c.partition.ELR)
}

// recordLastKnownLeader keeps who led last in the field LastKnownELR: set when
// the ISR becomes empty, cleared as soon as somebody leads.
func (c *partitionChange) recordLastKnownLeader(rec *metadata.PartitionChange) {
	if !c.elrEnabled {
		return
	}
	before := c.partition.LastKnownELR
	led := rec.Leader >= 0 || c.partition.Leader != kafka.NoBroker && rec.Leader != kafka.NoBroker
	switch {
	case rec.ISR != nil && len(rec.ISR) == 0:
		if len(before) != 1 || before[0] != c.partition.Leader {
			rec.LastKnownELR = []kafka.BrokerID{c.partition.Leader}
		}
	case led && len(before) > 0:
		rec.LastKnownELR = []kafka.BrokerID{}
	}
}

// without gives ids less the ones named, in a list of its own.
func without(ids []kafka.BrokerID, gone ...kafka.BrokerID) []kafka.BrokerID {
	var rest []kafka.BrokerID
	for _, id := range ids {
		if !slices.Contains(gone, id) {
			rest = append(rest, id)
		}
	}
	return rest
}
