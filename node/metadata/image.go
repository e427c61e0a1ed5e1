package metadata

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"tidemark/model/kafka"
)

// The features whose levels decide something here.
const (
	FeatureMetadataVersion        = "metadata.version"
	FeatureEligibleLeaderReplicas = "eligible.leader.replicas.version"
)

// Image is the state of the cluster after a prefix of the metadata log. It is
// immutable, and so is everything that its methods return.
type Image struct {
	offset   kafka.Offset
	epoch    kafka.LeaderEpoch
	brokers  []*BrokerImage   // by id
	topics   []*TopicImage    // by name
	names    []topicName      // by topic id
	configs  []*configImage   // by type and name
	features []FeatureLevel   // by name; no level 0
	nextID   kafka.ProducerID // first producer id that was not handed out
}

type topicName struct {
	id   kafka.UUID
	name string
}

// BrokerImage is a broker's registration.
type BrokerImage struct {
	ID                   kafka.BrokerID
	Epoch                kafka.BrokerEpoch
	IncarnationID        kafka.UUID
	Fenced               bool
	InControlledShutdown bool
	// RegistrationOffset is the offset of the registration record itself: a
	// broker may be unfenced once it has replayed so far.
	RegistrationOffset kafka.Offset
	EndPoints          []Endpoint
	Features           []FeatureRange
	Rack               string       // "" is none
	LogDirs            []kafka.UUID // online, ascending
}

// UnassignedDirectory stands for a log directory that the broker picks (KIP-858).
var UnassignedDirectory = kafka.UUID{15: 1}

// lostDirectory stands for a log directory that is offline, whichever it is.
var lostDirectory = kafka.UUID{15: 2}

// Online reports whether a log directory of the broker serves. One that the
// broker still has to pick does, so does the zero id of a replica from before there
// were assignments, and any directory of a broker that named none.
func (b *BrokerImage) Online(dir kafka.UUID) bool {
	switch {
	case dir == UnassignedDirectory || dir.IsZero():
		return true
	case dir == lostDirectory:
		return false
	default:
		return len(b.LogDirs) == 0 || slices.Contains(b.LogDirs, dir)
	}
}

// Active reports whether the broker may lead and join an ISR: unfenced and not
// in controlled shutdown (KIP-841).
func (b *BrokerImage) Active() bool { return !b.Fenced && !b.InControlledShutdown }

// Endpoint finds a listener by its name.
func (b *BrokerImage) Endpoint(listener string) (Endpoint, bool) {
	for _, e := range b.EndPoints {
		if e.Name == listener {
			return e, true
		}
	}
	return Endpoint{}, false
}

// TopicImage is a topic; Partitions has no gaps, its index is the partition's
// number.
type TopicImage struct {
	Name       string
	ID         kafka.UUID
	Partitions []*PartitionImage
}

// PartitionImage is the state of a partition that the controller decides.
type PartitionImage struct {
	Replicas       []kafka.BrokerID // assignment; the first is preferred
	ISR            []kafka.BrokerID
	Removing       []kafka.BrokerID
	Adding         []kafka.BrokerID
	Leader         kafka.BrokerID // NoBroker: none
	LeaderEpoch    kafka.LeaderEpoch
	PartitionEpoch kafka.PartitionEpoch
	RecoveryState  RecoveryState
	ELR            []kafka.BrokerID
	LastKnownELR   []kafka.BrokerID
	Directories    []kafka.UUID // in order of Replicas
}

// Directory is the log directory of a broker's replica, UnassignedDirectory if
// the image does not tell (zero: as it was before there were assignments).
func (p *PartitionImage) Directory(id kafka.BrokerID) kafka.UUID {
	if i := slices.Index(p.Replicas, id); i >= 0 && i < len(p.Directories) && !p.Directories[i].IsZero() {
		return p.Directories[i]
	}
	return UnassignedDirectory
}

type configImage struct {
	resource ConfigResource
	entries  []ConfigEntry // by key, never empty
}

// ConfigResource names what configuration entries belong to.
type ConfigResource struct {
	Type ResourceType
	Name string
}

func (c ConfigResource) compare(o ConfigResource) int {
	return cmp.Or(cmp.Compare(c.Type, o.Type), strings.Compare(c.Name, o.Name))
}

// ConfigEntry is one dynamic configuration value.
type ConfigEntry struct{ Key, Value string }

var empty = &Image{offset: kafka.NoOffset, epoch: kafka.NoEpoch}

// Empty is the image before the first record: offset -1, epoch -1.
func Empty() *Image { return empty }

// Offset is the offset of the last record applied, -1 for none.
func (im *Image) Offset() kafka.Offset { return im.offset }

// Epoch is the raft epoch of the last record applied, -1 for none.
func (im *Image) Epoch() kafka.LeaderEpoch { return im.epoch }

// NextProducerID is the first producer id that was not handed out in a block.
func (im *Image) NextProducerID() kafka.ProducerID { return im.nextID }

// Brokers are all registrations, by id.
func (im *Image) Brokers() []*BrokerImage { return im.brokers }

// Broker finds a registration.
func (im *Image) Broker(id kafka.BrokerID) (*BrokerImage, bool) {
	i, ok := im.brokerAt(id)
	if !ok {
		return nil, false
	}
	return im.brokers[i], true
}

func (im *Image) brokerAt(id kafka.BrokerID) (int, bool) {
	return slices.BinarySearchFunc(im.brokers, id, func(b *BrokerImage, id kafka.BrokerID) int { return cmp.Compare(b.ID, id) })
}

// Topics are all topics, by name.
func (im *Image) Topics() []*TopicImage { return im.topics }

// Topic finds a topic by its name.
func (im *Image) Topic(name string) (*TopicImage, bool) {
	i, ok := im.topicAt(name)
	if !ok {
		return nil, false
	}
	return im.topics[i], true
}

func (im *Image) topicAt(name string) (int, bool) {
	return slices.BinarySearchFunc(im.topics, name, func(t *TopicImage, name string) int { return strings.Compare(t.Name, name) })
}

// TopicByID finds a topic by its id.
func (im *Image) TopicByID(id kafka.UUID) (*TopicImage, bool) {
	i, ok := im.nameAt(id)
	if !ok {
		return nil, false
	}
	return im.Topic(im.names[i].name)
}

func (im *Image) nameAt(id kafka.UUID) (int, bool) {
	return slices.BinarySearchFunc(im.names, id, func(n topicName, id kafka.UUID) int { return bytes.Compare(n.id[:], id[:]) })
}

// Partition finds a partition.
func (im *Image) Partition(tp kafka.TopicPartition) (*PartitionImage, bool) {
	t, ok := im.Topic(tp.Topic)
	if !ok || tp.Partition < 0 || int(tp.Partition) >= len(t.Partitions) {
		return nil, false
	}
	return t.Partitions[tp.Partition], true
}

// Configs are the dynamic configuration values of a resource, by key.
func (im *Image) Configs(t ResourceType, name string) []ConfigEntry {
	i, ok := im.configAt(ConfigResource{t, name})
	if !ok {
		return nil
	}
	return im.configs[i].entries
}

func (im *Image) configAt(r ConfigResource) (int, bool) {
	return slices.BinarySearchFunc(im.configs, r, func(c *configImage, r ConfigResource) int { return c.resource.compare(r) })
}

// ConfigValue is one dynamic configuration value of a resource.
func (im *Image) ConfigValue(t ResourceType, name, key string) (string, bool) {
	entries := im.Configs(t, name)
	i, ok := entryAt(entries, key)
	if !ok {
		return "", false
	}
	return entries[i].Value, true
}

func entryAt(entries []ConfigEntry, key string) (int, bool) {
	return slices.BinarySearchFunc(entries, key, func(e ConfigEntry, key string) int { return strings.Compare(e.Key, key) })
}

// Feature is the finalised level of a feature, 0 if it is off.
func (im *Image) Feature(name string) int16 {
	i, ok := im.featureAt(name)
	if !ok {
		return 0
	}
	return im.features[i].Level
}

// Features are the finalised features, by name.
func (im *Image) Features() []FeatureLevel { return im.features }

func (im *Image) featureAt(name string) (int, bool) {
	return slices.BinarySearchFunc(im.features, name, func(f FeatureLevel, name string) int { return strings.Compare(f.Name, name) })
}
