package client

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
)

// EpochQuery asks a leader where a leader epoch ends in its log.
type EpochQuery struct {
	TP      kafka.TopicPartition
	Current kafka.LeaderEpoch // current leader epoch as the client knows it
	Epoch   kafka.LeaderEpoch // the epoch in question
}

// EpochEnd is the answer: the largest epoch at or below the one in question
// and one past its last offset; NoEpoch and NoOffset if the leader cannot say.
type EpochEnd struct {
	TP    kafka.TopicPartition
	Code  kafka.ErrorCode
	Epoch kafka.LeaderEpoch
	End   kafka.Offset
}

// OffsetsForLeaderEpoch, versions 2 to 4: how a client finds out that the log
// below its position was cut (KIP-320). Queries are sorted by partition; done
// gets one answer for each, in order, or a code for the whole call.
func (c *Client) OffsetsForLeaderEpoch(to kafka.BrokerID, queries []EpochQuery, done func([]EpochEnd, kafka.ErrorCode)) {
	req := kmsg.NewPtrOffsetForLeaderEpochRequest()
	req.ReplicaID = -1
	answers := make([]EpochEnd, len(queries))
	for i, q := range queries {
		if i == 0 || q.TP.Topic != queries[i-1].TP.Topic {
			t := kmsg.NewOffsetForLeaderEpochRequestTopic()
			t.Topic = q.TP.Topic
			req.Topics = append(req.Topics, t)
		}
		p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		p.Partition, p.CurrentLeaderEpoch, p.LeaderEpoch = q.TP.Partition, int32(q.Current), int32(q.Epoch)
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, p)
		answers[i] = EpochEnd{q.TP, kafka.UnknownServerError, kafka.NoEpoch, kafka.NoOffset}
	}
	c.send(to, call{Request: req, Done: func(r kmsg.Response, code kafka.ErrorCode) {
		if code != kafka.None {
			done(nil, code)
			return
		}
		readEpochEnds(r.(*kmsg.OffsetForLeaderEpochResponse), answers)
		done(answers, kafka.None)
	}})
}

func readEpochEnds(r *kmsg.OffsetForLeaderEpochResponse, answers []EpochEnd) {
	for i := range r.Topics {
		for j := range r.Topics[i].Partitions {
			p := &r.Topics[i].Partitions[j]
			tp := kafka.TopicPartition{Topic: r.Topics[i].Topic, Partition: p.Partition}
			for k := range answers {
				if answers[k].TP == tp {
					answers[k] = EpochEnd{tp, kafka.ErrorCode(p.ErrorCode), kafka.LeaderEpoch(p.LeaderEpoch), kafka.Offset(p.EndOffset)}
				}
			}
		}
	}
}
