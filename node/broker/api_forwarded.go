package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// handleForwarded serves the requests that only the controller can decide, by
// passing them on whole (KIP-590): CreateTopics, key 19, versions 2 to 7;
// DeleteTopics, key 20, versions 1 to 6; ElectLeaders, key 43, versions 0 to 2.
// If no controller answers in time, every item gets REQUEST_TIMED_OUT, which
// leaves open whether it was done.
func (r *router) handleForwarded(conn node.ConnID, m *node.Message) {
	w := r.begin(conn, m)
	r.env.Post(node.Lifecycle, forwardPost{ID: w.id, Request: m})
}

func (r *router) forwarded(w *work, answer *node.Message) {
	r.end(w)
	if answer != nil {
		r.reply(w.conn, w.request, answer.Response)
		return
	}
	switch req := w.request.Request.(type) {
	case *kmsg.CreateTopicsRequest:
		r.reply(w.conn, w.request, createTimedOut(req))
	case *kmsg.DeleteTopicsRequest:
		r.reply(w.conn, w.request, deleteTimedOut(req))
	case *kmsg.ElectLeadersRequest:
		res := kmsg.NewPtrElectLeadersResponse()
		res.ErrorCode = int16(kafka.RequestTimedOut)
		r.reply(w.conn, w.request, res)
	}
}

func createTimedOut(req *kmsg.CreateTopicsRequest) kmsg.Response {
	res := kmsg.NewPtrCreateTopicsResponse()
	for _, t := range req.Topics {
		topic := kmsg.NewCreateTopicsResponseTopic()
		topic.Topic, topic.ErrorCode = t.Topic, int16(kafka.RequestTimedOut)
		res.Topics = append(res.Topics, topic)
	}
	return res
}

func deleteTimedOut(req *kmsg.DeleteTopicsRequest) kmsg.Response {
	res := kmsg.NewPtrDeleteTopicsResponse()
	add := func(name *string, id kafka.UUID) {
		topic := kmsg.NewDeleteTopicsResponseTopic()
		topic.Topic, topic.TopicID, topic.ErrorCode = name, id, int16(kafka.RequestTimedOut)
		res.Topics = append(res.Topics, topic)
	}
	for _, name := range req.TopicNames {
		add(&name, kafka.UUID{})
	}
	for _, t := range req.Topics {
		add(t.Topic, t.TopicID)
	}
	return res
}
