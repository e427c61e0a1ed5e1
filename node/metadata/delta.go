package metadata

import (
	"cmp"
	"slices"
	"strings"

	"tidemark/model/kafka"
)

// Delta is what differs between two images of one log, the older before the
// newer. Several changes to one partition are one entry, as brokers apply them.
type Delta struct {
	// Partitions were created or changed; sorted.
	Partitions []PartitionDelta
	// RemovedTopics as they were, by name. A topic that was removed and created
	// again under its name is here with its old id, and its new partitions are
	// in Partitions without a Before.
	RemovedTopics []*TopicImage
	// Brokers were registered, changed or unregistered; ascending.
	Brokers []kafka.BrokerID
	// Configs name the resources of which a value changed; sorted.
	Configs []ConfigResource
	// Features tells whether a finalised level changed.
	Features bool
}

// PartitionDelta is the change of one partition.
type PartitionDelta struct {
	TP      kafka.TopicPartition
	TopicID kafka.UUID
	Before  *PartitionImage // nil: the partition is new
	After   *PartitionImage
}

// Empty reports whether the images differ in offset and epoch at most.
func (d *Delta) Empty() bool {
	return len(d.Partitions) == 0 && len(d.RemovedTopics) == 0 && len(d.Brokers) == 0 && len(d.Configs) == 0 && !d.Features
}

// Diff gives what changed from before to after. What the images share costs
// nothing beyond the walk over topics, and equal lists not even that.
func Diff(before, after *Image) *Delta {
	d := &Delta{Features: !slices.Equal(before.features, after.features)}
	if !same(before.topics, after.topics) {
		d.topics(before, after)
	}
	if !same(before.brokers, after.brokers) {
		merge(before.brokers, after.brokers, func(a, b *BrokerImage) int { return cmp.Compare(a.ID, b.ID) }, d.broker)
	}
	if !same(before.configs, after.configs) {
		merge(before.configs, after.configs, func(a, b *configImage) int { return a.resource.compare(b.resource) }, d.config)
	}
	return d
}

// same reports whether two lists are one list in memory.
func same[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// merge walks two sorted lists of pointers and calls changed for each pair of
// equal rank that is not one object, with nil for a missing side.
func merge[T any](before, after []*T, compare func(a, b *T) int, changed func(before, after *T)) {
	for len(before) > 0 || len(after) > 0 {
		order := 0
		switch {
		case len(before) == 0:
			order = 1
		case len(after) == 0:
			order = -1
		default:
			order = compare(before[0], after[0])
		}
		var b, a *T
		if order <= 0 {
			b, before = before[0], before[1:]
		}
		if order >= 0 {
			a, after = after[0], after[1:]
		}
		if a != b {
			changed(b, a)
		}
	}
}

func (d *Delta) broker(before, after *BrokerImage) {
	if after == nil {
		d.Brokers = append(d.Brokers, before.ID)
		return
	}
	d.Brokers = append(d.Brokers, after.ID)
}

func (d *Delta) config(before, after *configImage) {
	switch {
	case after == nil:
		d.Configs = append(d.Configs, before.resource)
	case before == nil || !slices.Equal(before.entries, after.entries):
		d.Configs = append(d.Configs, after.resource)
	}
}

func (d *Delta) topics(before, after *Image) {
	byName := func(a, b *TopicImage) int { return strings.Compare(a.Name, b.Name) }
	merge(before.topics, after.topics, byName, func(b, a *TopicImage) {
		if b != nil && (a == nil || a.ID != b.ID) {
			d.RemovedTopics = append(d.RemovedTopics, b)
			b = nil
		}
		if a != nil {
			d.partitions(b, a)
		}
	})
}

func (d *Delta) partitions(before, after *TopicImage) {
	for i, p := range after.Partitions {
		var old *PartitionImage
		if before != nil && i < len(before.Partitions) {
			old = before.Partitions[i]
		}
		if old != p {
			d.Partitions = append(d.Partitions, PartitionDelta{TP: kafka.TopicPartition{Topic: after.Name, Partition: int32(i)},
				TopicID: after.ID, Before: old, After: p})
		}
	}
}
