package client

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
)

// Produce, versions 3 to 13. From 10 an answer names the new leader (KIP-951);
// 13 names topics by id, so it needs every id.

// ProducePartition is one batch for one partition.
type ProducePartition struct {
	TP      kafka.TopicPartition
	Records []byte // one record batch v2; not written after the call
}

// Produced is the leader's answer for one partition.
type Produced struct {
	TP       kafka.TopicPartition
	Code     kafka.ErrorCode
	Base     kafka.Offset // of the batch; NoOffset with acks=0 or an error
	LogStart kafka.Offset // NoOffset if not told
	// Rejected are the places in the batch of the records that made it
	// invalid (KIP-467).
	Rejected []int32
}

const (
	lastProduceByName = 12
	lastFetchByName   = 12
)

// Produce sends batches, sorted by partition and one for each, to the broker
// that leads them. done gets one answer for each, in order, or a code for the
// whole call.
func (c *Client) Produce(to kafka.BrokerID, acks int16, timeout time.Duration, parts []ProducePartition,
	done func([]Produced, kafka.ErrorCode)) {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = acks, millis(timeout)
	results := make([]Produced, len(parts))
	limit := int16(0)
	for i, p := range parts {
		if i == 0 || p.TP.Topic != parts[i-1].TP.Topic {
			t := kmsg.NewProduceRequestTopic()
			t.Topic, t.TopicID = p.TP.Topic, c.topicID(p.TP.Topic)
			if t.TopicID == (kafka.UUID{}) {
				limit = lastProduceByName
			}
			req.Topics = append(req.Topics, t)
		}
		part := kmsg.NewProduceRequestTopicPartition()
		part.Partition, part.Records = p.TP.Partition, p.Records
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, part)
		results[i] = Produced{TP: p.TP, Base: kafka.NoOffset, LogStart: kafka.NoOffset}
	}
	c.send(to, call{Request: req, MaxVersion: limit, NoAnswer: acks == 0, Done: func(r kmsg.Response, code kafka.ErrorCode) {
		if code != kafka.None {
			done(nil, code)
			return
		}
		if r != nil {
			c.readProduced(r.(*kmsg.ProduceResponse), req, results)
		}
		done(results, kafka.None)
	}})
}

// readProduced fills in results, which hold the partitions asked for in order.
// A partition that the answer leaves out has an unknown fate.
func (c *Client) readProduced(r *kmsg.ProduceResponse, req *kmsg.ProduceRequest, results []Produced) {
	names := topicNames{byID: r.Version > lastProduceByName}
	for i := range req.Topics {
		names.add(req.Topics[i].TopicID, req.Topics[i].Topic)
	}
	for i := range results {
		results[i].Code = kafka.UnknownServerError
	}
	var brokers []Broker
	for _, b := range r.Brokers {
		brokers = append(brokers, Broker{kafka.BrokerID(b.NodeID), hostPort(b.Host, b.Port)})
	}
	for i := range r.Topics {
		name := names.name(r.Topics[i].TopicID, r.Topics[i].Topic)
		for j := range r.Topics[i].Partitions {
			p := &r.Topics[i].Partitions[j]
			tp := kafka.TopicPartition{Topic: name, Partition: p.Partition}
			c.noteLeader(tp, p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch, brokers)
			for k := range results {
				if results[k].TP == tp {
					results[k].read(p)
				}
			}
		}
	}
}

func (r *Produced) read(p *kmsg.ProduceResponseTopicPartition) {
	r.Code, r.LogStart = kafka.ErrorCode(p.ErrorCode), kafka.Offset(p.LogStartOffset)
	if r.Code == kafka.None {
		r.Base = kafka.Offset(p.BaseOffset)
	}
	for _, e := range p.ErrorRecords {
		r.Rejected = append(r.Rejected, e.RelativeOffset)
	}
}

// topicNames turns the topic ids of an answer back into the names that its
// request asked for: metadata may have moved on to another id meanwhile.
type topicNames struct {
	byID  bool
	ids   []kafka.UUID
	names []string
}

func (n *topicNames) add(id [16]byte, name string) {
	n.ids, n.names = append(n.ids, id), append(n.names, name)
}

// name is the topic's name, "" for an id that was not asked for.
func (n *topicNames) name(id [16]byte, name string) string {
	if !n.byID {
		return name
	}
	for i := range n.ids {
		if n.ids[i] == kafka.UUID(id) {
			return n.names[i]
		}
	}
	return ""
}

func millis(d time.Duration) int32 { return int32(d / time.Millisecond) }
