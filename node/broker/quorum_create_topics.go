package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/controller"
	"tidemark/node/metadata"
)

// handleCreateTopics answers CreateTopics, key 19, versions 2 to 7: topics by
// numbers or by assignment, each with its configuration. The answer means that
// they are in the metadata log, not that brokers know of them. From version 5
// on it tells the numbers that were chosen.
func (l *quorumLane) handleCreateTopics(m *node.Message, answer answerFunc) {
	req := m.Request.(*kmsg.CreateTopicsRequest)
	r := controller.CreateTopicsRequest{ValidateOnly: req.ValidateOnly}
	for _, t := range req.Topics {
		r.Topics = append(r.Topics, newTopicOf(t))
	}
	l.controller.CreateTopics(r, func(code kafka.ErrorCode, results []controller.TopicResult) {
		res := kmsg.NewPtrCreateTopicsResponse()
		for i, t := range req.Topics {
			topic := kmsg.NewCreateTopicsResponseTopic()
			topic.Topic, topic.ErrorCode = t.Topic, int16(code)
			if code == kafka.None {
				topic.ErrorCode, topic.ErrorMessage = int16(results[i].Code), message(results[i].Message)
				topic.TopicID = results[i].ID
				topic.NumPartitions, topic.ReplicationFactor = results[i].Partitions, results[i].ReplicationFactor
			}
			res.Topics = append(res.Topics, topic)
		}
		answer(res, code)
	})
}

func newTopicOf(t kmsg.CreateTopicsRequestTopic) controller.NewTopic {
	topic := controller.NewTopic{Name: t.Topic, Partitions: t.NumPartitions, ReplicationFactor: t.ReplicationFactor}
	for _, a := range t.ReplicaAssignment {
		topic.Assignment = append(topic.Assignment, controller.ManualAssignment{Partition: a.Partition, Replicas: brokerIDs(a.Replicas)})
	}
	for _, c := range t.Configs {
		if c.Value != nil {
			topic.Configs = append(topic.Configs, metadata.ConfigEntry{Key: c.Name, Value: *c.Value})
		}
	}
	return topic
}

// message gives the text of an error for a nullable field.
func message(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
