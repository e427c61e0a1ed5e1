package broker

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
)

// handleMetadata answers Metadata, key 3, versions 0 to 13, from the image:
// brokers that are not fenced, and the asked topics, by name or from version 10
// on by id. No list asks for all topics; in version 0 an empty list does too.
// A named topic that does not exist is created meanwhile, if the client and
// auto.create.topics.enable allow that.
func (r *router) handleMetadata(conn node.ConnID, m *node.Message) {
	req := m.Request.(*kmsg.MetadataRequest)
	res := kmsg.NewPtrMetadataResponse()
	cluster := r.cfg.ClusterID.String()
	res.ClusterID = &cluster
	for _, b := range r.image.Brokers() {
		if e, ok := b.Endpoint(node.ClientListener); ok && !b.Fenced {
			broker := kmsg.NewMetadataResponseBroker()
			broker.NodeID, broker.Host, broker.Port = int32(b.ID), e.Host, int32(e.Port)
			if b.Rack != "" {
				broker.Rack = kmsg.StringPtr(b.Rack)
			}
			res.Brokers = append(res.Brokers, broker)
		}
	}
	res.ControllerID = r.anyController()
	if req.IncludeClusterAuthorizedOperations {
		res.AuthorizedOperations = operations
	}
	if req.Topics == nil || m.Version() == 0 && len(req.Topics) == 0 {
		for _, t := range r.image.Topics() {
			res.Topics = append(res.Topics, r.describeTopic(t, m.Version()))
		}
	}
	r.autoCreate(req)
	for _, asked := range req.Topics {
		res.Topics = append(res.Topics, r.askedTopic(asked, m.Version()))
	}
	r.reply(conn, m, res)
}

func (r *router) askedTopic(asked kmsg.MetadataRequestTopic, version int16) kmsg.MetadataResponseTopic {
	if asked.Topic != nil {
		if t, ok := r.image.Topic(*asked.Topic); ok {
			return r.describeTopic(t, version)
		}
		code := kafka.UnknownTopicOrPartition
		if kafka.ValidateTopicName(*asked.Topic) != nil {
			code = kafka.InvalidTopic
		}
		return missingTopic(asked, code)
	}
	if t, ok := r.image.TopicByID(asked.TopicID); ok {
		return r.describeTopic(t, version)
	}
	return missingTopic(asked, kafka.UnknownTopicID)
}

func missingTopic(asked kmsg.MetadataRequestTopic, code kafka.ErrorCode) kmsg.MetadataResponseTopic {
	t := kmsg.NewMetadataResponseTopic()
	t.ErrorCode, t.Topic, t.TopicID = int16(code), asked.Topic, asked.TopicID
	return t
}

func (r *router) describeTopic(topic *metadata.TopicImage, version int16) kmsg.MetadataResponseTopic {
	t := kmsg.NewMetadataResponseTopic()
	t.Topic, t.TopicID = &topic.Name, topic.ID
	t.IsInternal = internalTopic(topic.Name)
	for i, image := range topic.Partitions {
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Partition = int32(i)
		p.Leader, p.LeaderEpoch = int32(image.Leader), int32(image.LeaderEpoch)
		p.Replicas, p.ISR = wireIDs(image.Replicas), wireIDs(image.ISR)
		for _, id := range image.Replicas {
			if !r.alive(id) {
				p.OfflineReplicas = append(p.OfflineReplicas, int32(id))
			}
		}
		if !r.alive(image.Leader) {
			p.ErrorCode, p.Leader = int16(kafka.LeaderNotAvailable), int32(kafka.NoBroker)
		} else if version == 0 && len(p.OfflineReplicas) > 0 {
			p.ErrorCode = int16(kafka.ReplicaNotAvailable)
		}
		t.Partitions = append(t.Partitions, p)
	}
	return t
}

// alive reports whether clients may be sent to a broker.
func (r *router) alive(id kafka.BrokerID) bool {
	b, ok := r.image.Broker(id)
	return ok && !b.Fenced
}

// internalTopics are written by coordinators, never by clients.
var internalTopics = []string{"__consumer_offsets", "__share_group_state", "__transaction_state"}

func internalTopic(name string) bool { return slices.Contains(internalTopics, name) }

// wireIDs turns our ids into the wire's.
func wireIDs(ids []kafka.BrokerID) []int32 {
	out := make([]int32, len(ids))
	for i, id := range ids {
		out[i] = int32(id)
	}
	return out
}
