package metadata

import "tidemark/model/kafka"

// Record is one record of the metadata log. The types of this file are the
// only ones; they are values and hold what Kafka's schemas of the same name hold.
type Record interface {
	// APIKey is the record's number in Kafka's schemas.
	APIKey() int16
	// Version is the schema version that Append writes.
	Version() int16
	appendBody(w *writer)
}

// The API keys of the records that tidemark writes.
const (
	registerBrokerKey           = 0
	unregisterBrokerKey         = 1
	topicKey                    = 2
	partitionKey                = 3
	configKey                   = 4
	partitionChangeKey          = 5
	removeTopicKey              = 9
	featureLevelKey             = 12
	producerIDsKey              = 15
	brokerRegistrationChangeKey = 17
	noOpKey                     = 20
)

// Endpoint is one listener of a broker.
type Endpoint struct {
	Name             string // the listener's name, such as PLAINTEXT
	Host             string
	Port             uint16
	SecurityProtocol int16 // 0 is PLAINTEXT
}

// FeatureRange is what levels of a feature a broker supports, both inclusive.
type FeatureRange struct {
	Name     string
	Min, Max int16
}

// RegisterBroker replaces the whole registration of a broker (version 3, from
// metadata.version 3.7-IV2).
type RegisterBroker struct {
	BrokerID             kafka.BrokerID
	IncarnationID        kafka.UUID        // drawn anew by each process life
	BrokerEpoch          kafka.BrokerEpoch // first offset of the batch of the registration
	EndPoints            []Endpoint
	Features             []FeatureRange
	Rack                 string // "" is null
	Fenced               bool
	InControlledShutdown bool
	LogDirs              []kafka.UUID // directory ids (KIP-858), ascending
}

// UnregisterBroker removes a broker's registration.
type UnregisterBroker struct {
	BrokerID    kafka.BrokerID
	BrokerEpoch kafka.BrokerEpoch
}

// Topic creates a topic; its partitions follow.
type Topic struct {
	Name    string
	TopicID kafka.UUID
}

// RecoveryState tells whether a partition's leader was elected uncleanly and
// did not report back yet (KIP-704).
type RecoveryState int8

// The leader recovery states.
const (
	Recovered  RecoveryState = 0
	Recovering RecoveryState = 1
	// KeepRecoveryState in a PartitionChange stands for no change.
	KeepRecoveryState RecoveryState = -1
)

// Partition creates a partition (version 2, from metadata.version 4.0-IV1).
// Epochs of a new partition are 0.
type Partition struct {
	PartitionID    int32
	TopicID        kafka.UUID
	Replicas       []kafka.BrokerID // assignment; the first is preferred
	ISR            []kafka.BrokerID
	Removing       []kafka.BrokerID // by a reassignment
	Adding         []kafka.BrokerID
	Leader         kafka.BrokerID // NoBroker: none
	RecoveryState  RecoveryState
	LeaderEpoch    kafka.LeaderEpoch
	PartitionEpoch kafka.PartitionEpoch
	Directories    []kafka.UUID     // log directory of each replica, in order of Replicas
	ELR            []kafka.BrokerID // eligible leader replicas (KIP-966)
	LastKnownELR   []kafka.BrokerID // in the released mode: the last known leader
}

// KeepLeader in a PartitionChange stands for no Leader field.
const KeepLeader kafka.BrokerID = -2

// PartitionChange changes a partition (version 2). A nil list is an absent
// field; an empty one that is not nil empties the list. Replay raises the
// partition epoch always, and the leader epoch exactly if Leader is present, be
// it the same leader.
type PartitionChange struct {
	PartitionID   int32
	TopicID       kafka.UUID
	ISR           []kafka.BrokerID
	Leader        kafka.BrokerID // NoBroker: to none; KeepLeader: no change
	Replicas      []kafka.BrokerID
	Removing      []kafka.BrokerID
	Adding        []kafka.BrokerID
	RecoveryState RecoveryState // KeepRecoveryState: no change
	ELR           []kafka.BrokerID
	LastKnownELR  []kafka.BrokerID
	Directories   []kafka.UUID
}

// NewPartitionChange returns a change of a partition that changes nothing yet.
func NewPartitionChange(topic kafka.UUID, partition int32) PartitionChange {
	return PartitionChange{PartitionID: partition, TopicID: topic, Leader: KeepLeader, RecoveryState: KeepRecoveryState}
}

// IsNoOp reports whether no field but the partition's name is present.
func (c PartitionChange) IsNoOp() bool {
	return c.ISR == nil && c.Leader == KeepLeader && c.Replicas == nil && c.Removing == nil && c.Adding == nil &&
		c.RecoveryState == KeepRecoveryState && c.ELR == nil && c.LastKnownELR == nil && c.Directories == nil
}

// ResourceType tells what a configuration belongs to, with Kafka's numbers.
type ResourceType int8

// The resources that have configurations here. The name of a BrokerResource is
// the broker's id, or "" for the default of all brokers.
const (
	TopicResource  ResourceType = 2
	BrokerResource ResourceType = 4
)

// Config sets or deletes one configuration value.
type Config struct {
	ResourceType ResourceType
	ResourceName string
	Name         string // the key
	Value        string
	Delete       bool // the value is null: the key is deleted
}

// FeatureLevel finalises a feature (KIP-584); level 0 is off.
type FeatureLevel struct {
	Name  string
	Level int16
}

// BrokerRegistrationChange changes the state of a registered broker (KIP-841).
// Version 0 carries the fencing, version 1 the controlled shutdown too, version 2
// the log directories (KIP-858).
type BrokerRegistrationChange struct {
	BrokerID    kafka.BrokerID
	BrokerEpoch kafka.BrokerEpoch // must be the registered one
	Fencing     Fencing
	// InControlledShutdown true: the broker is in it from now on.
	InControlledShutdown bool
	LogDirs              []kafka.UUID // those online from now on, ascending; empty: no change
}

// Fencing is what a BrokerRegistrationChange does to the fence.
type Fencing int8

// The changes of the fence.
const (
	Unfence     Fencing = -1
	KeepFencing Fencing = 0
	Fence       Fencing = 1
)

// RemoveTopic drops a topic, its partitions and its configuration.
type RemoveTopic struct {
	TopicID kafka.UUID
}

// ProducerIDs hands a block of producer ids to a broker.
type ProducerIDs struct {
	BrokerID    kafka.BrokerID
	BrokerEpoch kafka.BrokerEpoch
	// NextProducerID is the first id of the block after this one.
	NextProducerID kafka.ProducerID
}

// NoOp moves the committed offset of an idle cluster (KIP-835).
type NoOp struct{}

// APIKey implements Record.
func (RegisterBroker) APIKey() int16 { return registerBrokerKey }

// APIKey implements Record.
func (UnregisterBroker) APIKey() int16 { return unregisterBrokerKey }

// APIKey implements Record.
func (Topic) APIKey() int16 { return topicKey }

// APIKey implements Record.
func (Partition) APIKey() int16 { return partitionKey }

// APIKey implements Record.
func (PartitionChange) APIKey() int16 { return partitionChangeKey }

// APIKey implements Record.
func (Config) APIKey() int16 { return configKey }

// APIKey implements Record.
func (FeatureLevel) APIKey() int16 { return featureLevelKey }

// APIKey implements Record.
func (BrokerRegistrationChange) APIKey() int16 { return brokerRegistrationChangeKey }

// APIKey implements Record.
func (RemoveTopic) APIKey() int16 { return removeTopicKey }

// APIKey implements Record.
func (ProducerIDs) APIKey() int16 { return producerIDsKey }

// APIKey implements Record.
func (NoOp) APIKey() int16 { return noOpKey }

// Version implements Record.
func (RegisterBroker) Version() int16 { return 3 }

// Version implements Record.
func (UnregisterBroker) Version() int16 { return 0 }

// Version implements Record.
func (Topic) Version() int16 { return 0 }

// Version implements Record.
func (Partition) Version() int16 { return 2 }

// Version implements Record.
func (PartitionChange) Version() int16 { return 2 }

// Version implements Record.
func (Config) Version() int16 { return 0 }

// Version implements Record.
func (FeatureLevel) Version() int16 { return 0 }

// Version implements Record. Fencing is written as version 0, which every
// release since 3.3 reads; only a controlled shutdown needs version 1, only log
// directories version 2.
func (c BrokerRegistrationChange) Version() int16 {
	switch {
	case len(c.LogDirs) > 0:
		return 2
	case c.InControlledShutdown:
		return 1
	}
	return 0
}

// Version implements Record.
func (RemoveTopic) Version() int16 { return 0 }

// Version implements Record.
func (ProducerIDs) Version() int16 { return 0 }

// Version implements Record.
func (NoOp) Version() int16 { return 0 }
