package client

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
)

// adminTimeout is how long a broker may take over an admin request, as the
// Java admin client asks by default.
const adminTimeout = 30 * time.Second

// NewTopic describes a topic to create.
type NewTopic struct {
	Name string
	// Partitions and Replicas are their numbers; below 1 leaves it to the brokers.
	Partitions int32
	Replicas   int16
	// Assignment, if any, gives each partition's replicas, preferred leader
	// first, and the numbers above do not count.
	Assignment [][]kafka.BrokerID
	Configs    []kafka.Pair
}

// CreateTopic, versions 2 to 7, sent to any broker, which forwards it. done
// gets the topic's code and, with an error, the broker's reason if it gave one.
func (c *Client) CreateTopic(t NewTopic, done func(code kafka.ErrorCode, reason string)) {
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = t.Name, -1, -1
	if len(t.Assignment) == 0 && t.Partitions > 0 {
		topic.NumPartitions = t.Partitions
	}
	if len(t.Assignment) == 0 && t.Replicas > 0 {
		topic.ReplicationFactor = t.Replicas
	}
	for i, replicas := range t.Assignment {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition = int32(i)
		for _, r := range replicas {
			a.Replicas = append(a.Replicas, int32(r))
		}
		topic.ReplicaAssignment = append(topic.ReplicaAssignment, a)
	}
	for _, p := range t.Configs {
		kv := kmsg.NewCreateTopicsRequestTopicConfig()
		kv.Name, kv.Value = p.Key, kmsg.StringPtr(p.Value)
		topic.Configs = append(topic.Configs, kv)
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics, req.TimeoutMillis = []kmsg.CreateTopicsRequestTopic{topic}, millis(adminTimeout)
	c.sendAny(call{Request: req, Done: func(r kmsg.Response, code kafka.ErrorCode) {
		reason := ""
		if code == kafka.None {
			code, reason = createdTopic(r.(*kmsg.CreateTopicsResponse))
		}
		done(code, reason)
	}})
}

func createdTopic(r *kmsg.CreateTopicsResponse) (kafka.ErrorCode, string) {
	if len(r.Topics) != 1 {
		return kafka.UnknownServerError, ""
	}
	t := &r.Topics[0]
	if t.ErrorMessage != nil {
		return kafka.ErrorCode(t.ErrorCode), *t.ErrorMessage
	}
	return kafka.ErrorCode(t.ErrorCode), ""
}

// Kinds of elections.
const (
	PreferredElection int8 = 0
	UncleanElection   int8 = 1
)

// ElectLeader, versions 1 and 2, sent to any broker, which forwards it. done
// gets the partition's code and, with an error, the broker's reason if it gave one.
func (c *Client) ElectLeader(kind int8, tp kafka.TopicPartition, done func(code kafka.ErrorCode, reason string)) {
	t := kmsg.NewElectLeadersRequestTopic()
	t.Topic, t.Partitions = tp.Topic, []int32{tp.Partition}
	req := kmsg.NewPtrElectLeadersRequest()
	req.ElectionType, req.Topics, req.TimeoutMillis = kind, []kmsg.ElectLeadersRequestTopic{t}, millis(adminTimeout)
	c.sendAny(call{Request: req, Done: func(r kmsg.Response, code kafka.ErrorCode) {
		reason := ""
		if code == kafka.None {
			code, reason = electedLeader(r.(*kmsg.ElectLeadersResponse))
		}
		done(code, reason)
	}})
}

// electedLeader reads the one partition's result. An answer that leaves it out
// says nothing of the election.
func electedLeader(r *kmsg.ElectLeadersResponse) (kafka.ErrorCode, string) {
	if code := kafka.ErrorCode(r.ErrorCode); code != kafka.None {
		return code, ""
	}
	if len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
		return kafka.UnknownServerError, ""
	}
	p := &r.Topics[0].Partitions[0]
	if p.ErrorMessage != nil {
		return kafka.ErrorCode(p.ErrorCode), *p.ErrorMessage
	}
	return kafka.ErrorCode(p.ErrorCode), ""
}
