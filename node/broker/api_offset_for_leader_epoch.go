package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/replica"
)

// handleOffsetForLeaderEpoch serves OffsetForLeaderEpoch, key 23, versions 2 to
// 4: where a leader epoch ends in the leader's log (KIP-101, KIP-279). Consumers
// ask it to find out whether their position was cut off (KIP-320); followers no
// longer do since KIP-595, their Fetch tells.
func (r *router) handleOffsetForLeaderEpoch(conn node.ConnID, m *node.Message) {
	req := m.Request.(*kmsg.OffsetForLeaderEpochRequest)
	w := r.begin(conn, m)
	w.lookup = &lookupWork{}
	var parts []epochPart
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			tp := kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}
			parts = append(parts, epochPart{Index: len(parts), TP: tp,
				Current: kafka.LeaderEpoch(p.CurrentLeaderEpoch), Epoch: kafka.LeaderEpoch(p.LeaderEpoch)})
			w.lookup.tps = append(w.lookup.tps, tp)
			w.lookup.epochs = append(w.lookup.epochs, epochResult{Code: r.partitionKnown(tp),
				End: replica.EpochEnd{Epoch: kafka.NoEpoch, End: kafka.NoOffset}})
		}
	}
	for lane, share := range r.lookupShares(w, func(i int) kafka.ErrorCode { return w.lookup.epochs[i].Code }) {
		post := lookupPost{ID: w.id}
		for _, i := range share {
			post.Epochs = append(post.Epochs, parts[i])
		}
		r.lookUp(w, lane, len(share), post)
	}
	r.finishLookup(w)
}

func epochResponse(req *kmsg.OffsetForLeaderEpochRequest, results []epochResult) *kmsg.OffsetForLeaderEpochResponse {
	res := kmsg.NewPtrOffsetForLeaderEpochResponse()
	i := 0
	for _, t := range req.Topics {
		topic := kmsg.NewOffsetForLeaderEpochResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			part := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			part.Partition, part.ErrorCode = p.Partition, int16(results[i].Code)
			part.LeaderEpoch, part.EndOffset = int32(results[i].End.Epoch), int64(results[i].End.End)
			topic.Partitions = append(topic.Partitions, part)
			i++
		}
		res.Topics = append(res.Topics, topic)
	}
	return res
}
