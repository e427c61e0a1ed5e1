package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// metadataAutoCreate is the first Metadata version that says whether it wants
// missing topics to be created; those before always do.
const metadataAutoCreate = 4

// autoCreate asks the controller for the topics of a Metadata request that do not
// exist (auto.create.topics.enable). The request is not held up by that: its
// answer says that they are unknown, and the client asks again.
func (r *router) autoCreate(req *kmsg.MetadataRequest) {
	if !r.cfg.Properties.Bool(kafka.AutoCreateTopics) || req.Version >= metadataAutoCreate && !req.AllowAutoTopicCreation {
		return
	}
	for _, asked := range req.Topics {
		if asked.Topic == nil {
			continue
		}
		name := *asked.Topic
		_, exists := r.image.Topic(name)
		if !exists && kafka.ValidateTopicName(name) == nil && !internalTopic(name) && !r.isCreating(name) {
			r.create(name)
		}
	}
}

// autoCreateVersion of CreateTopics takes -1 for both numbers of a topic.
const autoCreateVersion = 5

// create sends one CreateTopics with the cluster's default numbers.
func (r *router) create(name string) {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version = autoCreateVersion
	req.TimeoutMillis = int32(forwardPatience.Milliseconds())
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, -1, -1
	req.Topics = append(req.Topics, t)
	r.last++
	r.creating[r.last] = name
	r.env.Post(node.Lifecycle, forwardPost{ID: r.last, Request: &node.Message{Request: req}})
}

// isCreating tells whether the controller has been asked for a topic and has not
// answered.
func (r *router) isCreating(name string) bool {
	for _, n := range r.creating { // unordered: looks for one
		if n == name {
			return true
		}
	}
	return false
}
