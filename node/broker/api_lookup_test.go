package broker

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
)

// listOffsets asks for one timestamp of orders partitions, in order.
func listOffsets(version int16, timestamp int64, partitions ...int32) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.Version = version
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic = "orders"
	for _, n := range partitions {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = n, timestamp
		topic.Partitions = append(topic.Partitions, p)
	}
	req.Topics = append(req.Topics, topic)
	return req
}

func TestListOffsetsAnswersBothEndsAcrossLanesInRequestOrder(t *testing.T) {
	b, _ := leaderBench(t, 2, 3, 1, 2)
	b.produceOn(9, 0, batchOf("a", "b"))
	b.produceOn(9, 1, batchOf("c"))
	b.fetchOn(2, followerFetch(2, 20, 0, 2))
	for _, c := range []struct {
		name      string
		timestamp int64
		replica   int32
		want      [3]int64
	}{
		{"latest is the high watermark", -1, -1, [3]int64{0, 2, 0}},
		{"earliest", -2, -1, [3]int64{0, 0, 0}},
		{"latest of a follower is the log end", -1, 2, [3]int64{1, 2, 0}},
	} {
		req := listOffsets(10, c.timestamp, 1, 0, 2)
		req.ReplicaID = c.replica
		b.request(node.Router, client, req)
		res, _ := take[*kmsg.ListOffsetsResponse](b, node.Router)
		for i, p := range res.Topics[0].Partitions {
			if p.ErrorCode != 0 || p.Partition != []int32{1, 0, 2}[i] || p.Offset != c.want[i] {
				t.Errorf("%s: answer %d is %+v, want offset %d", c.name, i, p, c.want[i])
			}
		}
	}
}

func TestListOffsetsErrorCodes(t *testing.T) {
	for _, c := range []struct {
		name string
		req  *kmsg.ListOffsetsRequest
		want kafka.ErrorCode
	}{
		{"unknown partition", listOffsets(10, -1, 9), kafka.UnknownTopicOrPartition},
		{"named twice", listOffsets(10, -1, 0, 0), kafka.InvalidRequest},
		{"led by another", listOffsets(10, -1, 1), kafka.NotLeaderOrFollower},
		{"new leader that may be behind", listOffsets(10, -1, 2), kafka.OffsetNotAvailable},
		{"the same for an old client", listOffsets(4, -1, 2), kafka.LeaderNotAvailable},
		{"its start is known", listOffsets(10, -2, 2), kafka.None},
	} {
		b, cl := leaderBench(t, 2, 3, 1, 2)
		b.produceOn(9, 2, batchOf("a"))
		b.image(cl.commit(metadata.PartitionChange{PartitionID: 1, TopicID: ordersID, Leader: 2, RecoveryState: metadata.KeepRecoveryState},
			metadata.PartitionChange{PartitionID: 2, TopicID: ordersID, Leader: 1, RecoveryState: metadata.KeepRecoveryState}))
		b.request(node.Router, client, c.req)
		res, _ := take[*kmsg.ListOffsetsResponse](b, node.Router)
		if got := kafka.ErrorCode(res.Topics[0].Partitions[0].ErrorCode); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestOffsetForLeaderEpochTellsWhereAnEpochEnds(t *testing.T) {
	b, c := leaderBench(t, 2, 1, 1)
	b.produceOn(9, 0, batchOf("a", "b"))
	b.image(c.elect(1, 1)) // epoch 1 begins at 2
	b.produceOn(9, 0, batchOf("c"))
	for _, q := range []struct {
		name             string
		partition, epoch int32
		current          int32
		want             kafka.ErrorCode
		wantEpoch        int32
		wantEnd          int64
	}{
		{"past epoch", 0, 0, -1, kafka.None, 0, 2},
		{"present epoch", 0, 1, 1, kafka.None, 1, 3},
		{"later epoch", 0, 5, -1, kafka.None, -1, -1},
		{"fenced", 0, 0, 0, kafka.FencedLeaderEpoch, -1, -1},
		{"unknown partition", 7, 0, -1, kafka.UnknownTopicOrPartition, -1, -1},
	} {
		req := kmsg.NewPtrOffsetForLeaderEpochRequest()
		req.Version = 4
		topic := kmsg.NewOffsetForLeaderEpochRequestTopic()
		topic.Topic = "orders"
		p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		p.Partition, p.LeaderEpoch, p.CurrentLeaderEpoch = q.partition, q.epoch, q.current
		topic.Partitions = append(topic.Partitions, p)
		req.Topics = append(req.Topics, topic)
		b.request(node.Router, client, req)
		res, _ := take[*kmsg.OffsetForLeaderEpochResponse](b, node.Router)
		got := res.Topics[0].Partitions[0]
		if kafka.ErrorCode(got.ErrorCode) != q.want || got.LeaderEpoch != q.wantEpoch || got.EndOffset != q.wantEnd {
			t.Errorf("%s: %+v, want %v, epoch %d, end %d", q.name, got, q.want, q.wantEpoch, q.wantEnd)
		}
	}
}
