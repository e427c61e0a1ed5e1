package broker

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/quorum"
)

// raftFetchVersion is the version of an observer's Fetch: 18 carries its high
// watermark, so that the leader tells news of it at once (KIP-1166).
const raftFetchVersion = 18

// handleFetch answers Fetch, key 1, versions 17 and 18, of the metadata log,
// the only partition that a controller has. It parks by itself; errors other
// than a wrong cluster or a wrong shape are the partition's.
func (l *quorumLane) handleFetch(m *node.Message, answer answerFunc) {
	req := m.Request.(*kmsg.FetchRequest)
	if len(req.Topics) != 1 || req.Topics[0].TopicID != kafka.MetadataTopicID || len(req.Topics[0].Partitions) != 1 ||
		req.Topics[0].Partitions[0].Partition != 0 {
		res := kmsg.NewPtrFetchResponse()
		res.ErrorCode = int16(kafka.InvalidRequest)
		answer(res, kafka.InvalidRequest)
		return
	}
	p := &req.Topics[0].Partitions[0]
	r := quorum.FetchRequest{Replica: kafka.BrokerID(req.ReplicaState.ID), LeaderEpoch: kafka.LeaderEpoch(p.CurrentLeaderEpoch),
		Offset: kafka.Offset(p.FetchOffset), LastFetchedEpoch: kafka.LeaderEpoch(p.LastFetchedEpoch),
		HighWatermark: kafka.Offset(p.HighWatermark), MaxWait: time.Duration(req.MaxWaitMillis) * time.Millisecond, MaxBytes: int(req.MaxBytes)}
	if req.ClusterID != nil {
		r.ClusterID = *req.ClusterID
	}
	l.raft.HandleFetch(r, func(resp quorum.FetchResponse) { answer(raftFetchResponse(resp), resp.Code) })
}

func raftFetchResponse(r quorum.FetchResponse) *kmsg.FetchResponse {
	res := kmsg.NewPtrFetchResponse()
	if r.Code == kafka.InconsistentClusterID {
		res.ErrorCode = int16(r.Code)
		return res
	}
	p := kmsg.NewFetchResponseTopicPartition()
	p.ErrorCode = int16(r.Code)
	p.HighWatermark, p.LogStartOffset = int64(r.HighWatermark), int64(r.LogStart)
	p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset = int32(r.DivergingEpoch), int64(r.DivergingEnd)
	p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = int32(r.Leader), int32(r.LeaderEpoch)
	p.RecordBatches = r.Records
	t := kmsg.NewFetchResponseTopic()
	t.TopicID = kafka.MetadataTopicID
	t.Partitions = append(t.Partitions, p)
	res.Topics = append(res.Topics, t)
	return res
}

func raftFetchRequest(r quorum.FetchRequest) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.Version = raftFetchVersion
	req.ClusterID = &r.ClusterID
	req.ReplicaState.ID = int32(r.Replica)
	req.MaxWaitMillis, req.MaxBytes = int32(r.MaxWait/time.Millisecond), int32(r.MaxBytes)
	p := kmsg.NewFetchRequestTopicPartition()
	p.CurrentLeaderEpoch, p.LastFetchedEpoch = int32(r.LeaderEpoch), int32(r.LastFetchedEpoch)
	p.FetchOffset, p.HighWatermark = int64(r.Offset), int64(r.HighWatermark)
	t := kmsg.NewFetchRequestTopic()
	t.TopicID = kafka.MetadataTopicID
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

// raftFetchAnswer reads a leader's answer. A top-level error, or anything but
// the one partition, tells nothing of the log.
func raftFetchAnswer(res *kmsg.FetchResponse) (quorum.FetchResponse, bool) {
	if res.ErrorCode != 0 || len(res.Topics) != 1 || len(res.Topics[0].Partitions) != 1 {
		return quorum.FetchResponse{}, false
	}
	p := &res.Topics[0].Partitions[0]
	return quorum.FetchResponse{Code: kafka.ErrorCode(p.ErrorCode), Leader: kafka.BrokerID(p.CurrentLeader.LeaderID),
		LeaderEpoch: kafka.LeaderEpoch(p.CurrentLeader.LeaderEpoch), HighWatermark: kafka.Offset(p.HighWatermark),
		LogStart: kafka.Offset(p.LogStartOffset), DivergingEpoch: kafka.LeaderEpoch(p.DivergingEpoch.Epoch),
		DivergingEnd: kafka.Offset(p.DivergingEpoch.EndOffset), Records: p.RecordBatches}, true
}
