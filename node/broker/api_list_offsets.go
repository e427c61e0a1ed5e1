package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/replica"
)

// lookupWork is a ListOffsets or OffsetForLeaderEpoch request in work.
type lookupWork struct {
	tps     []kafka.TopicPartition
	offsets []offsetResult
	epochs  []epochResult
}

// listOffsetsNotAvailable is the first version whose clients understand
// OFFSET_NOT_AVAILABLE (KIP-207).
const listOffsetsNotAvailable = 5

// handleListOffsets serves ListOffsets, key 2, versions 1 to 10, of consumers
// and of followers: the end of a log (timestamp -1; from version 2 on as the
// isolation level sees it), its start (-2), its record
// with the largest timestamp (-3), or the first record that is not older than a
// timestamp. A partition that is named twice is refused with INVALID_REQUEST.
func (r *router) handleListOffsets(conn node.ConnID, m *node.Message) {
	req := m.Request.(*kmsg.ListOffsetsRequest)
	w := r.begin(conn, m)
	w.lookup = &lookupWork{}
	var parts []offsetPart
	seen := map[kafka.TopicPartition]int{}
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			tp := kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}
			parts = append(parts, offsetPart{Index: len(parts), TP: tp, Request: replica.ListOffsetRequest{
				Timestamp: kafka.Timestamp(p.Timestamp), CurrentLeaderEpoch: kafka.LeaderEpoch(p.CurrentLeaderEpoch),
				FromReplica: req.ReplicaID >= 0, ReadCommitted: req.IsolationLevel == readCommitted}})
			w.lookup.tps = append(w.lookup.tps, tp)
			code := r.partitionKnown(tp)
			if code == kafka.None && !timestampServed(p.Timestamp, req.Version) {
				code = kafka.UnsupportedVersion
			}
			w.lookup.offsets = append(w.lookup.offsets, offsetResult{Code: code, ListOffsetResult: noListOffset})
			seen[tp]++
		}
	}
	for i, tp := range w.lookup.tps {
		if seen[tp] > 1 {
			w.lookup.offsets[i].Code = kafka.InvalidRequest
		}
	}
	for lane, share := range r.lookupShares(w, func(i int) kafka.ErrorCode { return w.lookup.offsets[i].Code }) {
		post := lookupPost{ID: w.id}
		for _, i := range share {
			post.Offsets = append(post.Offsets, parts[i])
		}
		r.lookUp(w, lane, len(share), post)
	}
	r.finishLookup(w)
}

// timestampServed tells whether a timestamp is one that the version has.
func timestampServed(t int64, version int16) bool {
	switch kafka.Timestamp(t) {
	case replica.LargestTimestamp:
		return version >= 7 // KIP-734
	case replica.EarliestLocalTimestamp:
		return version >= 8 // KIP-405
	case replica.LatestTieredTimestamp:
		return version >= 9 // KIP-1005
	}
	return t >= int64(replica.EarliestTimestamp)
}

// lookupShares groups the partitions that passed the checks by lane.
func (r *router) lookupShares(w *work, code func(i int) kafka.ErrorCode) [][]int {
	return r.laneShares(len(w.lookup.tps), func(i int) int {
		if code(i) != kafka.None {
			return -1
		}
		return laneOf(w.lookup.tps[i], r.cfg.DataLanes)
	})
}

func (r *router) lookUp(w *work, lane, n int, post lookupPost) {
	if n > 0 {
		w.missing++
		r.env.Post(node.Data(lane), post)
	}
}

func (r *router) lookedUp(w *work, m lookedUpPost) {
	for _, o := range m.Offsets {
		w.lookup.offsets[o.Index] = o
	}
	for _, e := range m.Epochs {
		w.lookup.epochs[e.Index] = e
	}
	w.missing--
	r.finishLookup(w)
}

func (r *router) finishLookup(w *work) {
	if w.missing > 0 {
		return
	}
	r.end(w)
	switch req := w.request.Request.(type) {
	case *kmsg.ListOffsetsRequest:
		r.reply(w.conn, w.request, listOffsetsResponse(req, w.lookup.offsets))
	case *kmsg.OffsetForLeaderEpochRequest:
		r.reply(w.conn, w.request, epochResponse(req, w.lookup.epochs))
	}
}

func listOffsetsResponse(req *kmsg.ListOffsetsRequest, results []offsetResult) *kmsg.ListOffsetsResponse {
	res := kmsg.NewPtrListOffsetsResponse()
	i := 0
	for _, t := range req.Topics {
		topic := kmsg.NewListOffsetsResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			result := results[i]
			if result.Code == kafka.OffsetNotAvailable && req.Version < listOffsetsNotAvailable {
				result.Code = kafka.LeaderNotAvailable
			}
			part := kmsg.NewListOffsetsResponseTopicPartition()
			part.Partition, part.ErrorCode = p.Partition, int16(result.Code)
			part.Offset, part.LeaderEpoch, part.Timestamp = int64(result.Offset), int32(result.Epoch), int64(result.Timestamp)
			topic.Partitions = append(topic.Partitions, part)
			i++
		}
		res.Topics = append(res.Topics, topic)
	}
	return res
}
