package client

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
)

// DeleteRecords, versions 0 to 2, sent to the partition's leader (KIP-107): the
// log begins at before from then on, at the high watermark if it is -1. done gets
// the least log start of the live replicas, or LEADER_NOT_AVAILABLE while no leader
// is known.
func (c *Client) DeleteRecords(tp kafka.TopicPartition, before kafka.Offset, done func(low kafka.Offset, code kafka.ErrorCode)) {
	leader := c.Leader(tp)
	if leader.Leader == kafka.NoBroker {
		c.RequestUpdate()
		done(kafka.NoOffset, kafka.LeaderNotAvailable)
		return
	}
	t := kmsg.NewDeleteRecordsRequestTopic()
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Partition, p.Offset = tp.Partition, int64(before)
	t.Topic, t.Partitions = tp.Topic, []kmsg.DeleteRecordsRequestTopicPartition{p}
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.Topics, req.TimeoutMillis = []kmsg.DeleteRecordsRequestTopic{t}, millis(adminTimeout)
	c.send(leader.Leader, call{Request: req, Done: func(r kmsg.Response, code kafka.ErrorCode) {
		low := kafka.NoOffset
		if code == kafka.None {
			low, code = deletedRecords(r.(*kmsg.DeleteRecordsResponse))
		}
		if NeedsMetadata(code) {
			c.RequestUpdate()
		}
		done(low, code)
	}})
}

// deletedRecords reads the one partition's result.
func deletedRecords(r *kmsg.DeleteRecordsResponse) (low kafka.Offset, code kafka.ErrorCode) {
	if len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 {
		return kafka.NoOffset, kafka.UnknownServerError
	}
	p := &r.Topics[0].Partitions[0]
	return kafka.Offset(p.LowWatermark), kafka.ErrorCode(p.ErrorCode)
}
