package controller

import (
	"slices"
	"time"

	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// maxElections bounds the elections of one periodic pass, so that the events
// behind it do not wait long.
const maxElections = 1000

// brokerChange is what happens to a broker in an operation, whose records the
// image does not show yet.
type brokerChange struct {
	removed kafka.BrokerID // leaves every ISR and leads nothing
	added   kafka.BrokerID // may lead although the image shows it fenced
	unclean kafka.BrokerID // removed, and belongs in no ELR
}

func leaving(id kafka.BrokerID) brokerChange {
	return brokerChange{removed: id, added: kafka.NoBroker, unclean: kafka.NoBroker}
}

func returning(id kafka.BrokerID) brokerChange {
	return brokerChange{removed: kafka.NoBroker, added: id, unclean: kafka.NoBroker}
}

func uncleanShutdown(id kafka.BrokerID) brokerChange {
	return brokerChange{removed: kafka.NoBroker, added: kafka.NoBroker, unclean: id}
}

var noBrokerChange = returning(kafka.NoBroker)

// acceptable tells who may lead a partition while ch is under way: an active
// broker, whose log directory with the replica is online (KIP-858).
func (c *Controller) acceptable(ch brokerChange, p *metadata.PartitionImage) func(kafka.BrokerID) bool {
	return func(id kafka.BrokerID) bool {
		if id == kafka.NoBroker || id == ch.removed || id == ch.unclean {
			return false
		}
		b, ok := c.image.Broker(id)
		return ok && (id == ch.added || b.Active()) && b.Online(p.Directory(id))
	}
}

func withISRMember(id kafka.BrokerID) func(*metadata.PartitionImage) bool {
	return func(p *metadata.PartitionImage) bool { return slices.Contains(p.ISR, id) }
}

func withISROrELRMember(id kafka.BrokerID) func(*metadata.PartitionImage) bool {
	return func(p *metadata.PartitionImage) bool {
		return slices.Contains(p.ISR, id) || slices.Contains(p.ELR, id)
	}
}

func leaderless(p *metadata.PartitionImage) bool { return p.Leader == kafka.NoBroker }

// changeIn begins a change of a partition in this cluster: who may lead, min
// ISR, features and the topic's wish for unclean elections.
func (c *Controller) changeIn(t *metadata.TopicImage, number int32, ch brokerChange) partitionChange {
	b := changeOf(t.Partitions[number], t.ID, number)
	b.acceptable = c.acceptable(ch, b.partition)
	b.minISR = c.minISR(t)
	b.elrEnabled = c.elrEnabled()
	b.unclean = ch.unclean
	if c.uncleanElectionEnabled(t.Name) {
		b.election = electUnclean
	}
	return b
}

// updatePartitions takes a broker that goes out of the ISR of the partitions
// chosen, and elects where the leader may not lead any more. Partitions go in
// order of topic and number.
func (c *Controller) updatePartitions(r *result, choose func(*metadata.PartitionImage) bool, ch brokerChange) {
	for _, t := range c.image.Topics() {
		for i, p := range t.Partitions {
			if !choose(p) {
				continue
			}
			b := c.changeIn(t, int32(i), ch)
			b.isr = without(p.ISR, ch.removed, ch.unclean)
			if rec, how, ok := b.build(); ok {
				r.change(kafka.TopicPartition{Topic: t.Name, Partition: int32(i)}, rec, how)
			}
		}
	}
}

// ElectionType is what ElectLeaders asks for (KIP-460), with Kafka's numbers.
type ElectionType int8

// The types of elections.
const (
	PreferredElection ElectionType = 0
	UncleanElection   ElectionType = 1
)

// ElectLeadersRequest asks for elections in the partitions named, or in all.
type ElectLeadersRequest struct {
	Type       ElectionType
	Partitions []kafka.TopicPartition
	All        bool // Partitions is null
}

// ElectionResult is the outcome of one election.
type ElectionResult struct {
	TP   kafka.TopicPartition
	Code kafka.ErrorCode
}

// ElectLeaders holds elections on request. Asked for all partitions, it does
// not list those that need none.
func (c *Controller) ElectLeaders(req ElectLeadersRequest, reply func(kafka.ErrorCode, []ElectionResult)) {
	if !c.active {
		reply(kafka.NotController, nil)
		return
	}
	if req.Type != PreferredElection && req.Type != UncleanElection {
		reply(kafka.InvalidRequest, nil)
		return
	}
	partitions := req.Partitions
	if req.All {
		partitions = c.partitionsWhere(func(*metadata.PartitionImage) bool { return true })
	}
	var r result
	var results []ElectionResult
	for _, tp := range partitions {
		code := c.electLeader(&r, tp, req.Type)
		if code != kafka.ElectionNotNeeded || !req.All {
			results = append(results, ElectionResult{tp, code})
		}
	}
	c.write(r, func(code kafka.ErrorCode) { reply(code, results) })
}

func (c *Controller) partitionsWhere(choose func(*metadata.PartitionImage) bool) []kafka.TopicPartition {
	var found []kafka.TopicPartition
	for _, t := range c.image.Topics() {
		for i, p := range t.Partitions {
			if choose(p) {
				found = append(found, kafka.TopicPartition{Topic: t.Name, Partition: int32(i)})
			}
		}
	}
	return found
}

// electLeader adds the record of one election, if there is anybody to elect.
func (c *Controller) electLeader(r *result, tp kafka.TopicPartition, typ ElectionType) kafka.ErrorCode {
	p, ok := c.image.Partition(tp)
	if !ok {
		return kafka.UnknownTopicOrPartition
	}
	if typ == PreferredElection && p.Leader == p.Replicas[0] || typ == UncleanElection && p.Leader != kafka.NoBroker {
		return kafka.ElectionNotNeeded
	}
	t, _ := c.image.Topic(tp.Topic)
	b := c.changeIn(t, tp.Partition, noBrokerChange)
	b.election = electPreferred
	if typ == UncleanElection {
		b.election = electUnclean
	}
	rec, how, ok := b.build()
	switch {
	case ok:
		r.change(tp, rec, how)
		return kafka.None
	case typ == PreferredElection:
		return kafka.PreferredLeaderNotAvailable
	default:
		return kafka.EligibleLeadersNotAvailable
	}
}

// electUncleanLeaders tries again where nobody leads and anybody may: brokers
// that come back are looked at when they are unfenced, but a setting may have
// changed since.
func (c *Controller) electUncleanLeaders() (more bool) {
	var r result
	for _, tp := range c.partitionsWhere(leaderless) {
		if len(r.records) == maxElections {
			more = true
			break
		}
		if c.uncleanElectionEnabled(tp.Topic) {
			c.electLeader(&r, tp, UncleanElection)
		}
	}
	if len(r.records) > 0 {
		c.write(r, func(kafka.ErrorCode) {})
	}
	return more
}

// imbalanced partitions are not led by their preferred replica.
func imbalanced(p *metadata.PartitionImage) bool { return p.Leader != p.Replicas[0] }

// balanceLater plans a pass of preferred elections once an imbalance is seen.
func (c *Controller) balanceLater(d *metadata.Delta) {
	if c.balancing != 0 || !c.cfg.Static.Bool(kafka.AutoLeaderRebalance) {
		return
	}
	for _, p := range d.Partitions {
		if imbalanced(p.After) {
			c.balancing = c.timers.After(c.balanceInterval(), c.balance)
			return
		}
	}
}

func (c *Controller) balanceInterval() time.Duration {
	return time.Duration(c.cfg.Static.Int(kafka.LeaderImbalanceCheckSec)) * time.Second
}

// balance gives leadership back to preferred replicas that are in sync, and
// plans the next pass while any is left.
func (c *Controller) balance() {
	interval := c.balanceInterval()
	var r result
	for _, tp := range c.partitionsWhere(imbalanced) {
		if len(r.records) == maxElections {
			interval = 0
			break
		}
		c.electLeader(&r, tp, PreferredElection)
	}
	if len(r.records) > 0 {
		c.write(r, func(kafka.ErrorCode) {})
	}
	c.balancing = 0
	if len(c.partitionsWhere(imbalanced)) > 0 {
		c.balancing = c.timers.After(interval, c.balance)
	}
}
