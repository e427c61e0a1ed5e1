package clienttest

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
)

// topic is a topic as the brokers' metadata has it.
type topic struct {
	name    string
	id      kafka.UUID
	leaders []int32
	epochs  []int32
}

// Topic creates a topic with n partitions, led in turn by brokers 1, 2 …, in
// epoch 0.
func (w *World) Topic(name string, n int) {
	t := &topic{name: name, id: kafka.UUID{0: 0xee, 15: byte(len(w.topics) + 1)}}
	for i := range n {
		t.leaders = append(t.leaders, int32(w.brokers[i%len(w.brokers)].id))
		t.epochs = append(t.epochs, 0)
	}
	w.topics = append(w.topics, t)
}

// Lead makes a broker leader of a partition in an epoch, in metadata; -1 is
// nobody.
func (w *World) Lead(name string, partition int, leader kafka.BrokerID, epoch kafka.LeaderEpoch) {
	t := w.topic(name)
	t.leaders[partition], t.epochs[partition] = int32(leader), int32(epoch)
}

// Recreate gives a topic another id and begins its epochs again.
func (w *World) Recreate(name string) {
	t := w.topic(name)
	t.id[0]++
	for i := range t.epochs {
		t.epochs[i] = 0
	}
}

// TopicID is the id of a topic.
func (w *World) TopicID(name string) [16]byte { return w.topic(name).id }

func (w *World) topic(name string) *topic {
	for _, t := range w.topics {
		if t.name == name {
			return t
		}
	}
	return nil
}

func (w *World) topicByID(id [16]byte) *topic {
	i := slices.IndexFunc(w.topics, func(t *topic) bool { return t.id == id })
	if i < 0 {
		return nil
	}
	return w.topics[i]
}

func (w *World) answerVersions(r *Request) {
	res := kmsg.NewPtrApiVersionsResponse()
	res.SetVersion(r.Body.GetVersion())
	for key := int16(0); key <= kmsg.MaxKey; key++ {
		req := kmsg.RequestForKey(key)
		if req == nil {
			continue
		}
		high := req.MaxVersion()
		if m, ok := w.MaxVersions[key]; ok {
			high = m
		}
		k := kmsg.NewApiVersionsResponseApiKey()
		k.ApiKey, k.MinVersion, k.MaxVersion = key, 0, high
		res.ApiKeys = append(res.ApiKeys, k)
	}
	if m, ok := w.MaxVersions[ApiVersions]; ok && r.Body.GetVersion() > m {
		res.SetVersion(0)
		res.ErrorCode = int16(kafka.UnsupportedVersion)
	}
	r.answer(res)
}

func (w *World) answerProducerID(r *Request) {
	w.lastPID++
	res := kmsg.NewPtrInitProducerIDResponse()
	res.ProducerID, res.ProducerEpoch = w.lastPID, 0
	r.Answer(res)
}

func (w *World) answerMetadata(r *Request) {
	req := r.Body.(*kmsg.MetadataRequest)
	res := kmsg.NewPtrMetadataResponse()
	res.ControllerID = int32(r.Broker)
	for _, b := range w.brokers {
		if !b.down {
			m := kmsg.NewMetadataResponseBroker()
			m.NodeID, m.Host, m.Port = int32(b.id), addr(b.id)[:len(addr(b.id))-len(":9092")], 9092
			res.Brokers = append(res.Brokers, m)
		}
	}
	for i := range req.Topics {
		res.Topics = append(res.Topics, w.describe(*req.Topics[i].Topic))
	}
	r.Answer(res)
}

func (w *World) describe(name string) kmsg.MetadataResponseTopic {
	m := kmsg.NewMetadataResponseTopic()
	m.Topic = kmsg.StringPtr(name)
	t := w.topic(name)
	if t == nil {
		m.ErrorCode = int16(kafka.UnknownTopicOrPartition)
		return m
	}
	m.TopicID = t.id
	for i := range t.leaders {
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Partition, p.Leader, p.LeaderEpoch = int32(i), t.leaders[i], t.epochs[i]
		if p.Leader < 0 {
			p.ErrorCode = int16(kafka.LeaderNotAvailable)
		}
		m.Partitions = append(m.Partitions, p)
	}
	return m
}
