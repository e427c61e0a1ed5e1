package controller

import (
	"slices"

	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// directoriesOffline takes a broker out of the ISR of every partition whose
// replica lies in one of the log directories, elects others where it led, then
// strikes the directories from its registration (KIP-858). Directories that are
// not registered (any more) change nothing: heartbeats repeat them.
func (c *Controller) directoriesOffline(b *metadata.BrokerImage, offline []kafka.UUID, r *result) {
	failed := func(dir kafka.UUID) bool { return slices.Contains(offline, dir) && slices.Contains(b.LogDirs, dir) }
	online := slices.DeleteFunc(slices.Clone(b.LogDirs), failed)
	if len(online) == len(b.LogDirs) {
		return
	}
	c.updatePartitions(r, func(p *metadata.PartitionImage) bool {
		return slices.Contains(p.Replicas, b.ID) && failed(p.Directory(b.ID))
	}, leaving(b.ID))
	r.records = append(r.records, metadata.BrokerRegistrationChange{BrokerID: b.ID, BrokerEpoch: b.Epoch, LogDirs: online})
}

// AssignmentRequest is AssignReplicasToDirs: a broker tells where it keeps
// replicas (KIP-858).
type AssignmentRequest struct {
	BrokerID    kafka.BrokerID
	BrokerEpoch kafka.BrokerEpoch
	Assignments []Assignment
}

// Assignment is one replica of the sender in one of its log directories.
type Assignment struct {
	Directory kafka.UUID
	TopicID   kafka.UUID
	Partition int32
}

// AssignReplicasToDirs notes where a broker keeps its replicas. The codes are
// those of the assignments, in their order; they leave when what was noted is
// committed. A replica in a directory that is offline meanwhile is treated as
// one whose directory fails now.
func (c *Controller) AssignReplicasToDirs(req AssignmentRequest, reply func(kafka.ErrorCode, []kafka.ErrorCode)) {
	if !c.active {
		reply(kafka.NotController, nil)
		return
	}
	if code := c.checkBrokerEpoch(req.BrokerID, req.BrokerEpoch); code != kafka.None {
		reply(code, nil)
		return
	}
	var r result
	codes := make([]kafka.ErrorCode, 0, len(req.Assignments))
	for _, a := range req.Assignments {
		codes = append(codes, c.assignReplica(&r, req.BrokerID, a))
	}
	c.write(r, func(code kafka.ErrorCode) {
		if code != kafka.None {
			codes = nil
		}
		reply(code, codes)
	})
}

func (c *Controller) assignReplica(r *result, id kafka.BrokerID, a Assignment) kafka.ErrorCode {
	t, ok := c.image.TopicByID(a.TopicID)
	if !ok {
		return kafka.UnknownTopicID
	}
	if a.Partition < 0 || int(a.Partition) >= len(t.Partitions) || !slices.Contains(t.Partitions[a.Partition].Replicas, id) {
		return kafka.NotLeaderOrFollower
	}
	b, _ := c.image.Broker(id)
	ch := noBrokerChange
	if !b.Online(a.Directory) {
		ch = leaving(id)
	}
	change := c.changeIn(t, a.Partition, ch)
	change.isr = without(change.isr, ch.removed)
	change.directory = &replicaDirectory{id, a.Directory}
	if rec, how, ok := change.build(); ok {
		r.change(kafka.TopicPartition{Topic: t.Name, Partition: a.Partition}, rec, how)
	}
	return kafka.None
}

// replicaDirectory is where a broker's replica is from now on.
type replicaDirectory struct {
	broker kafka.BrokerID
	dir    kafka.UUID
}

// recordDirectory writes the new list of directories if it differs.
func (c *partitionChange) recordDirectory(rec *metadata.PartitionChange) {
	if c.directory == nil || c.partition.Directory(c.directory.broker) == c.directory.dir {
		return
	}
	rec.Directories = make([]kafka.UUID, 0, len(c.partition.Replicas))
	for _, id := range c.partition.Replicas {
		dir := c.partition.Directory(id)
		if id == c.directory.broker {
			dir = c.directory.dir
		}
		rec.Directories = append(rec.Directories, dir)
	}
}
