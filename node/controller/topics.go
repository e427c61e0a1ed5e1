package controller

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// CreateTopicsRequest is CreateTopics in domain types.
type CreateTopicsRequest struct {
	Topics       []NewTopic
	ValidateOnly bool
}

// NewTopic is one topic to create, by numbers or by an assignment.
type NewTopic struct {
	Name              string
	Partitions        int32 // -1: num.partitions, or the assignment's
	ReplicationFactor int16 // -1: default.replication.factor, or the assignment's
	Assignment        []ManualAssignment
	Configs           []metadata.ConfigEntry
}

// ManualAssignment are the replicas of one partition; the first is preferred.
type ManualAssignment struct {
	Partition int32
	Replicas  []kafka.BrokerID
}

// TopicResult is the outcome for one topic, of creation or deletion.
type TopicResult struct {
	Name              string
	ID                kafka.UUID
	Code              kafka.ErrorCode
	Message           string // "" without an error
	Partitions        int32
	ReplicationFactor int16
}

// refusal is a reason for which a topic is not created.
type refusal struct {
	code kafka.ErrorCode
	text string
}

func (r refusal) Error() string { return r.text }

func refuse(code kafka.ErrorCode, format string, args ...any) error {
	return refusal{code, fmt.Sprintf(format, args...)}
}

// CreateTopics creates topics, each whole or not at all: the topic, its
// configuration, then its partitions. All that succeed share one batch.
func (c *Controller) CreateTopics(req CreateTopicsRequest, reply func(kafka.ErrorCode, []TopicResult)) {
	if !c.active {
		reply(kafka.NotController, nil)
		return
	}
	r := result{atomic: true}
	results := make([]TopicResult, 0, len(req.Topics))
	for i, t := range req.Topics {
		res := TopicResult{Name: t.Name, Partitions: -1, ReplicationFactor: -1}
		recs, err := c.createTopic(t, req.Topics, i)
		if err == nil && len(r.records)+len(recs) > MaxBatchRecords {
			err = refuse(kafka.PolicyViolation, "the topics of this request have too many partitions for one batch of %d records", MaxBatchRecords)
		}
		var no refusal
		if errors.As(err, &no) {
			res.Code, res.Message = no.code, no.text
		} else {
			res.describe(recs)
			r.records = append(r.records, recs...)
		}
		results = append(results, res)
	}
	if req.ValidateOnly {
		r = result{}
	}
	c.write(r, func(code kafka.ErrorCode) { reply(code, results) })
}

// describe fills in what was made of the defaults.
func (res *TopicResult) describe(recs []metadata.Record) {
	res.Partitions = 0
	for _, rec := range recs {
		switch rec := rec.(type) {
		case metadata.Topic:
			res.ID = rec.TopicID
		case metadata.Partition:
			res.Partitions++
			res.ReplicationFactor = int16(len(rec.Replicas))
		}
	}
}

// createTopic gives the records of the i-th topic of a request, or a refusal.
func (c *Controller) createTopic(t NewTopic, all []NewTopic, i int) ([]metadata.Record, error) {
	if err := c.checkTopicName(t.Name, all, i); err != nil {
		return nil, err
	}
	settings := make([]kafka.Pair, len(t.Configs))
	for i, e := range t.Configs {
		settings[i] = kafka.Pair{Key: e.Key, Value: e.Value}
	}
	if err := kafka.CheckTopic(c.cfg.Static, settings...); err != nil {
		return nil, refuse(kafka.InvalidConfig, "%v", err)
	}
	assignment, err := c.assign(t)
	if err != nil {
		return nil, err
	}
	id := c.drawTopicID()
	recs := []metadata.Record{metadata.Topic{Name: t.Name, TopicID: id}}
	for _, e := range t.Configs {
		recs = append(recs, metadata.Config{ResourceType: metadata.TopicResource, ResourceName: t.Name, Name: e.Key, Value: e.Value})
	}
	for n, replicas := range assignment {
		isr := c.activeOf(replicas)
		recs = append(recs, metadata.Partition{PartitionID: int32(n), TopicID: id, Replicas: replicas, ISR: isr, Leader: isr[0],
			Directories: c.directoriesOf(replicas)})
	}
	return recs, nil
}

func (c *Controller) checkTopicName(name string, all []NewTopic, i int) error {
	if err := kafka.ValidateTopicName(name); err != nil {
		return refuse(kafka.InvalidTopic, "%v", err)
	}
	for j, other := range all {
		if j != i && other.Name == name {
			return refuse(kafka.InvalidRequest, "the request names topic %s twice", name)
		}
	}
	if _, exists := c.image.Topic(name); exists {
		return refuse(kafka.TopicAlreadyExists, "topic %s exists already", name)
	}
	// Names of metrics do not tell '.' from '_'.
	metric := strings.ReplaceAll(name, ".", "_")
	for _, t := range c.image.Topics() {
		if strings.ReplaceAll(t.Name, ".", "_") == metric {
			return refuse(kafka.InvalidTopic, "topic %s collides with %s: '.' and '_' are one in names of metrics", name, t.Name)
		}
	}
	return nil
}

// assign gives the replicas of each partition of a new topic.
func (c *Controller) assign(t NewTopic) ([][]kafka.BrokerID, error) {
	if len(t.Assignment) > 0 {
		return c.assignManually(t)
	}
	partitions, factor := t.Partitions, t.ReplicationFactor
	if partitions == -1 {
		partitions = c.cfg.Static.Int32(kafka.NumPartitions)
	}
	if factor == -1 {
		factor = int16(c.cfg.Static.Int(kafka.DefaultReplicationFactor))
	}
	if factor <= 0 {
		return nil, refuse(kafka.InvalidReplicationFactor, "replication factor %d: use 1 or more, or -1 for the default", factor)
	}
	if partitions <= 0 || partitions > MaxBatchRecords {
		return nil, refuse(kafka.InvalidPartitions, "%d partitions: use 1 to %d, or -1 for the default", partitions, MaxBatchRecords)
	}
	return c.place(int(partitions), int(factor))
}

func (c *Controller) assignManually(t NewTopic) ([][]kafka.BrokerID, error) {
	if t.Partitions != -1 || t.ReplicationFactor != -1 {
		return nil, refuse(kafka.InvalidRequest, "an assignment leaves number of partitions and replication factor at -1")
	}
	assignment := make([][]kafka.BrokerID, len(t.Assignment))
	for _, m := range t.Assignment {
		if m.Partition < 0 || int(m.Partition) >= len(assignment) || assignment[m.Partition] != nil {
			return nil, refuse(kafka.InvalidReplicaAssignment, "the assignment must name each partition from 0 to %d once", len(assignment)-1)
		}
		if err := c.checkAssignment(m, len(t.Assignment[0].Replicas)); err != nil {
			return nil, err
		}
		assignment[m.Partition] = m.Replicas
	}
	return assignment, nil
}

func (c *Controller) checkAssignment(m ManualAssignment, factor int) error {
	if len(m.Replicas) == 0 || len(m.Replicas) != factor {
		return refuse(kafka.InvalidReplicaAssignment, "partition %d is assigned %d replicas, the first one %d: give each the same number, 1 or more",
			m.Partition, len(m.Replicas), factor)
	}
	for i, id := range m.Replicas {
		if slices.Contains(m.Replicas[:i], id) {
			return refuse(kafka.InvalidReplicaAssignment, "partition %d is assigned to broker %d twice", m.Partition, id)
		}
		if _, ok := c.image.Broker(id); !ok {
			return refuse(kafka.InvalidReplicaAssignment, "partition %d is assigned to broker %d, which is not registered", m.Partition, id)
		}
	}
	if len(c.activeOf(m.Replicas)) == 0 {
		return refuse(kafka.InvalidReplicaAssignment, "partition %d is assigned to brokers that are all fenced or in controlled shutdown", m.Partition)
	}
	return nil
}

// activeOf keeps the active ones, in order.
func (c *Controller) activeOf(replicas []kafka.BrokerID) []kafka.BrokerID {
	var active []kafka.BrokerID
	for _, id := range replicas {
		if b, ok := c.image.Broker(id); ok && b.Active() {
			active = append(active, id)
		}
	}
	return active
}

// directoriesOf gives each replica its broker's only log directory; a broker with
// several picks one itself and tells which (AssignReplicasToDirs).
func (c *Controller) directoriesOf(replicas []kafka.BrokerID) []kafka.UUID {
	dirs := make([]kafka.UUID, 0, len(replicas))
	for _, id := range replicas {
		dir := metadata.UnassignedDirectory
		if b, ok := c.image.Broker(id); ok && len(b.LogDirs) == 1 {
			dir = b.LogDirs[0]
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// drawTopicID draws a random id (UUID version 4, so never a reserved one).
func (c *Controller) drawTopicID() kafka.UUID {
	var id kafka.UUID
	binary.BigEndian.PutUint64(id[:8], c.env.Rand("topic id"))
	binary.BigEndian.PutUint64(id[8:], c.env.Rand("topic id"))
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// TopicRef names a topic to delete, by id, or by name if the id is zero.
type TopicRef struct {
	Name string
	ID   kafka.UUID
}

// DeleteTopics removes topics; their partitions and configuration go with them,
// without a word to the brokers but the record. They go all in one batch, so a
// request for more than MaxBatchRecords gets UNKNOWN_SERVER_ERROR.
func (c *Controller) DeleteTopics(refs []TopicRef, reply func(kafka.ErrorCode, []TopicResult)) {
	if !c.active {
		reply(kafka.NotController, nil)
		return
	}
	r := result{atomic: true}
	results := make([]TopicResult, 0, len(refs))
	for _, ref := range refs {
		res := TopicResult{Name: ref.Name, ID: ref.ID}
		t, ok := c.image.TopicByID(ref.ID)
		res.Code = kafka.UnknownTopicID
		if ref.ID.IsZero() {
			t, ok = c.image.Topic(ref.Name)
			res.Code = kafka.UnknownTopicOrPartition
		}
		remove := metadata.Record(metadata.RemoveTopic{})
		if ok {
			res.Name, res.ID, res.Code = t.Name, t.ID, kafka.None
			remove = metadata.RemoveTopic{TopicID: t.ID}
		}
		if ok && !slices.Contains(r.records, remove) {
			r.records = append(r.records, remove)
		}
		results = append(results, res)
	}
	c.write(r, func(code kafka.ErrorCode) { reply(code, results) })
}
