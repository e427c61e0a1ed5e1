package client

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
)

// Instants that ListOffsets gives a meaning of their own.
const (
	Latest   kafka.Timestamp = -1
	Earliest kafka.Timestamp = -2
)

// OffsetQuery asks a leader for the first offset at or after an instant.
type OffsetQuery struct {
	TP    kafka.TopicPartition
	Epoch kafka.LeaderEpoch // current leader epoch as the client knows it
	At    kafka.Timestamp   // or Earliest, Latest
}

// ListedOffset is the answer to an OffsetQuery.
type ListedOffset struct {
	TP     kafka.TopicPartition
	Code   kafka.ErrorCode
	Offset kafka.Offset      // NoOffset: nothing at or after that instant
	Epoch  kafka.LeaderEpoch // of the record there, or of the leader
}

// ListOffsets, versions 1 to 10. From 2 on the isolation level decides what is
// latest; from 5 a leader that does not know its high watermark yet answers
// OFFSET_NOT_AVAILABLE (KIP-207).
// Queries are sorted by partition; done gets one answer for each, in order, or
// a code for the whole call.
func (c *Client) ListOffsets(to kafka.BrokerID, level Isolation, queries []OffsetQuery, done func([]ListedOffset, kafka.ErrorCode)) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID, req.IsolationLevel = -1, int8(level)
	req.TimeoutMillis = millis(c.cfg.Network.RequestTimeout)
	answers := make([]ListedOffset, len(queries))
	for i, q := range queries {
		if i == 0 || q.TP.Topic != queries[i-1].TP.Topic {
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = q.TP.Topic
			req.Topics = append(req.Topics, t)
		}
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.CurrentLeaderEpoch, p.Timestamp = q.TP.Partition, int32(q.Epoch), int64(q.At)
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, p)
		answers[i] = ListedOffset{TP: q.TP, Code: kafka.UnknownServerError, Offset: kafka.NoOffset, Epoch: kafka.NoEpoch}
	}
	c.send(to, call{Request: req, Done: func(r kmsg.Response, code kafka.ErrorCode) {
		if code != kafka.None {
			done(nil, code)
			return
		}
		readListed(r.(*kmsg.ListOffsetsResponse), answers)
		done(answers, kafka.None)
	}})
}

func readListed(r *kmsg.ListOffsetsResponse, answers []ListedOffset) {
	for i := range r.Topics {
		for j := range r.Topics[i].Partitions {
			p := &r.Topics[i].Partitions[j]
			tp := kafka.TopicPartition{Topic: r.Topics[i].Topic, Partition: p.Partition}
			for k := range answers {
				if answers[k].TP == tp {
					answers[k] = ListedOffset{tp, kafka.ErrorCode(p.ErrorCode), kafka.Offset(p.Offset), kafka.LeaderEpoch(p.LeaderEpoch)}
				}
			}
		}
	}
}
