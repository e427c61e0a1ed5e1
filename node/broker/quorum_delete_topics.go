package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/controller"
)

// handleDeleteTopics answers DeleteTopics, key 20, versions 1 to 6: topics by
// name, from version 6 on also by id.
func (l *quorumLane) handleDeleteTopics(m *node.Message, answer answerFunc) {
	req := m.Request.(*kmsg.DeleteTopicsRequest)
	var refs []controller.TopicRef
	for _, name := range req.TopicNames {
		refs = append(refs, controller.TopicRef{Name: name})
	}
	for _, t := range req.Topics {
		ref := controller.TopicRef{ID: t.TopicID}
		if t.Topic != nil {
			ref.Name = *t.Topic
		}
		refs = append(refs, ref)
	}
	l.controller.DeleteTopics(refs, func(code kafka.ErrorCode, results []controller.TopicResult) {
		res := kmsg.NewPtrDeleteTopicsResponse()
		for i, ref := range refs {
			topic := kmsg.NewDeleteTopicsResponseTopic()
			topic.Topic, topic.TopicID, topic.ErrorCode = message(ref.Name), ref.ID, int16(code)
			if code == kafka.None {
				topic.Topic, topic.TopicID, topic.ErrorCode = message(results[i].Name), results[i].ID, int16(results[i].Code)
			}
			res.Topics = append(res.Topics, topic)
		}
		answer(res, code)
	})
}
