package metadata

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tidemark/model/kafka"
)

// Apply replays records of one epoch whose first has offset base, and gives
// the image after them and what they changed. A record that contradicts the
// image (an unknown topic, another broker epoch than the registered one) can only
// come of a controller that did not hold this image; it panics, because a node
// that went on would disagree with the others for good.
func (im *Image) Apply(base kafka.Offset, epoch kafka.LeaderEpoch, recs []Record) (*Image, *Delta) {
	next := im.Replay(base, epoch, recs)
	return next, Diff(im, next)
}

// Replay is Apply without the delta. The image keeps the lists of the records.
func (im *Image) Replay(base kafka.Offset, epoch kafka.LeaderEpoch, recs []Record) *Image {
	next := *im
	next.epoch = epoch
	r := replay{im: &next}
	for i, rec := range recs {
		next.offset = base + kafka.Offset(i)
		r.record(rec)
	}
	return &next
}

// Skip gives the image after records that hold no metadata, such as raft's own:
// only offset (of the last one) and epoch move.
func (im *Image) Skip(last kafka.Offset, epoch kafka.LeaderEpoch) *Image {
	next := *im
	next.offset, next.epoch = last, epoch
	return &next
}

// replay changes an image that nobody else has seen yet. Its lists may still be
// shared with the image before, so they are copied before they are changed.
type replay struct {
	im *Image
	// fresh are the topics that were copied or made here.
	fresh []*TopicImage
}

func (r *replay) record(rec Record) {
	switch rec := rec.(type) {
	case RegisterBroker:
		r.registerBroker(rec)
	case UnregisterBroker:
		i, _ := r.broker(rec.BrokerID, rec.BrokerEpoch)
		r.im.brokers = slices.Delete(slices.Clone(r.im.brokers), i, i+1)
	case BrokerRegistrationChange:
		r.changeRegistration(rec)
	case Topic:
		r.topic(rec)
	case Partition:
		r.partition(rec)
	case PartitionChange:
		r.changePartition(rec)
	case RemoveTopic:
		r.removeTopic(rec)
	case Config:
		r.config(rec)
	case FeatureLevel:
		r.feature(rec)
	case ProducerIDs:
		if rec.NextProducerID <= r.im.nextID {
			r.fail("the block of producer ids up to %d was handed out before", rec.NextProducerID)
		}
		r.im.nextID = rec.NextProducerID
	case NoOp:
	default:
		r.fail("no replay for a record of type %d", rec.APIKey())
	}
}

func (r *replay) fail(format string, args ...any) {
	panic(fmt.Sprintf("metadata record at offset %d cannot be replayed: ", r.im.offset) + fmt.Sprintf(format, args...))
}

func (r *replay) registerBroker(rec RegisterBroker) {
	b := &BrokerImage{ID: rec.BrokerID, Epoch: rec.BrokerEpoch, IncarnationID: rec.IncarnationID, Fenced: rec.Fenced,
		InControlledShutdown: rec.InControlledShutdown, RegistrationOffset: r.im.offset, EndPoints: rec.EndPoints,
		Features: rec.Features, Rack: rec.Rack, LogDirs: rec.LogDirs}
	r.im.brokers = slices.Clone(r.im.brokers)
	if i, ok := r.im.brokerAt(rec.BrokerID); ok {
		r.im.brokers[i] = b
	} else {
		r.im.brokers = slices.Insert(r.im.brokers, i, b)
	}
}

// broker finds the registration that a record speaks of.
func (r *replay) broker(id kafka.BrokerID, epoch kafka.BrokerEpoch) (int, *BrokerImage) {
	i, ok := r.im.brokerAt(id)
	if !ok {
		r.fail("broker %d is not registered", id)
	}
	b := r.im.brokers[i]
	if b.Epoch != epoch {
		r.fail("it is for broker %d in epoch %d, which is registered in epoch %d", id, epoch, b.Epoch)
	}
	return i, b
}

func (r *replay) changeRegistration(rec BrokerRegistrationChange) {
	i, old := r.broker(rec.BrokerID, rec.BrokerEpoch)
	b := *old
	if rec.Fencing != KeepFencing {
		b.Fenced = rec.Fencing == Fence
	}
	b.InControlledShutdown = b.InControlledShutdown || rec.InControlledShutdown
	if len(rec.LogDirs) > 0 {
		b.LogDirs = rec.LogDirs
	}
	r.im.brokers = slices.Clone(r.im.brokers)
	r.im.brokers[i] = &b
}

func (r *replay) topic(rec Topic) {
	i, known := r.im.topicAt(rec.Name)
	j, used := r.im.nameAt(rec.TopicID)
	if known || used {
		r.fail("topic %s (%s) exists already", rec.Name, rec.TopicID)
	}
	t := &TopicImage{Name: rec.Name, ID: rec.TopicID}
	r.fresh = append(r.fresh, t)
	r.im.topics = slices.Insert(slices.Clone(r.im.topics), i, t)
	r.im.names = slices.Insert(slices.Clone(r.im.names), j, topicName{rec.TopicID, rec.Name})
}

// mutable gives a topic that may be changed in place.
func (r *replay) mutable(id kafka.UUID) *TopicImage {
	j, ok := r.im.nameAt(id)
	if !ok {
		r.fail("no topic has the id %s", id)
	}
	i, _ := r.im.topicAt(r.im.names[j].name)
	t := r.im.topics[i]
	if slices.Contains(r.fresh, t) {
		return t
	}
	t = &TopicImage{Name: t.Name, ID: t.ID, Partitions: slices.Clone(t.Partitions)}
	r.fresh = append(r.fresh, t)
	r.im.topics = slices.Clone(r.im.topics)
	r.im.topics[i] = t
	return t
}

func (r *replay) partition(rec Partition) {
	t := r.mutable(rec.TopicID)
	if int(rec.PartitionID) != len(t.Partitions) {
		r.fail("partition %d of %s cannot follow %d others", rec.PartitionID, t.Name, len(t.Partitions))
	}
	t.Partitions = append(t.Partitions, &PartitionImage{Replicas: rec.Replicas, ISR: rec.ISR, Removing: rec.Removing,
		Adding: rec.Adding, Leader: rec.Leader, LeaderEpoch: rec.LeaderEpoch, PartitionEpoch: rec.PartitionEpoch,
		RecoveryState: rec.RecoveryState, ELR: rec.ELR, LastKnownELR: rec.LastKnownELR, Directories: rec.Directories})
}

func (r *replay) changePartition(rec PartitionChange) {
	t := r.mutable(rec.TopicID)
	if rec.PartitionID < 0 || int(rec.PartitionID) >= len(t.Partitions) {
		r.fail("%s has no partition %d", t.Name, rec.PartitionID)
	}
	p := *t.Partitions[rec.PartitionID]
	p.PartitionEpoch++
	if rec.Leader != KeepLeader {
		p.Leader = rec.Leader
		p.LeaderEpoch++
	}
	if rec.RecoveryState != KeepRecoveryState {
		p.RecoveryState = rec.RecoveryState
	}
	replace(&p.ISR, rec.ISR)
	replace(&p.Replicas, rec.Replicas)
	replace(&p.Removing, rec.Removing)
	replace(&p.Adding, rec.Adding)
	replace(&p.ELR, rec.ELR)
	replace(&p.LastKnownELR, rec.LastKnownELR)
	replace(&p.Directories, rec.Directories)
	t.Partitions[rec.PartitionID] = &p
}

// replace sets a list from a field of a change; an absent field is nil.
func replace[T any](list *[]T, field []T) {
	if field != nil {
		*list = field
	}
}

func (r *replay) removeTopic(rec RemoveTopic) {
	j, ok := r.im.nameAt(rec.TopicID)
	if !ok {
		r.fail("no topic has the id %s", rec.TopicID)
	}
	name := r.im.names[j].name
	i, _ := r.im.topicAt(name)
	r.im.topics = slices.Delete(slices.Clone(r.im.topics), i, i+1)
	r.im.names = slices.Delete(slices.Clone(r.im.names), j, j+1)
	if c, ok := r.im.configAt(ConfigResource{TopicResource, name}); ok {
		r.im.configs = slices.Delete(slices.Clone(r.im.configs), c, c+1)
	}
}

func (r *replay) config(rec Config) {
	resource := ConfigResource{rec.ResourceType, rec.ResourceName}
	i, known := r.im.configAt(resource)
	next := &configImage{resource: resource}
	if known {
		next.entries = slices.Clone(r.im.configs[i].entries)
	}
	k, set := entryAt(next.entries, rec.Name)
	switch {
	case rec.Delete && set:
		next.entries = slices.Delete(next.entries, k, k+1)
	case rec.Delete:
	case set:
		next.entries[k].Value = rec.Value
	default:
		next.entries = slices.Insert(next.entries, k, ConfigEntry{rec.Name, rec.Value})
	}
	r.im.configs = slices.Clone(r.im.configs)
	switch {
	case len(next.entries) > 0 && known:
		r.im.configs[i] = next
	case len(next.entries) > 0:
		r.im.configs = slices.Insert(r.im.configs, i, next)
	case known:
		r.im.configs = slices.Delete(r.im.configs, i, i+1)
	}
}

func (r *replay) feature(rec FeatureLevel) {
	i, known := r.im.featureAt(rec.Name)
	r.im.features = slices.Clone(r.im.features)
	switch {
	case rec.Level == 0 && known:
		r.im.features = slices.Delete(r.im.features, i, i+1)
	case rec.Level == 0:
	case known:
		r.im.features[i].Level = rec.Level
	default:
		r.im.features = slices.Insert(r.im.features, i, rec)
	}
}

// BrokerName is the name of a broker's BrokerResource.
func BrokerName(id kafka.BrokerID) string { return strconv.Itoa(int(id)) }

// String writes the resource as Kafka's tools do: topic orders, broker 1.
func (c ConfigResource) String() string {
	name := c.Name
	if name == "" {
		name = "<default>"
	}
	kind := "broker"
	if c.Type == TopicResource {
		kind = "topic"
	}
	return strings.Join([]string{kind, name}, " ")
}
