package broker

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/replica"
)

// deleteWork is a DeleteRecords request in work.
type deleteWork struct {
	tps     []kafka.TopicPartition // in request order
	results []deleteResult
}

// handleDeleteRecords serves DeleteRecords, key 21, versions 0 to 2 (KIP-107):
// each leader raises its log start to the offset, -1 for the high watermark, and
// the answer leaves when every replica that is alive has done so, with the least
// log start among them, or at the request's time-out.
func (r *router) handleDeleteRecords(conn node.ConnID, m *node.Message) {
	req := m.Request.(*kmsg.DeleteRecordsRequest)
	w := r.begin(conn, m)
	w.delete = &deleteWork{}
	var offsets []kafka.Offset
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			tp := kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}
			code := r.partitionKnown(tp)
			if code == kafka.None && internalTopic(tp.Topic) {
				code = kafka.InvalidTopic
			}
			w.delete.tps = append(w.delete.tps, tp)
			w.delete.results = append(w.delete.results, deleteResult{Code: code, Low: kafka.NoOffset})
			offsets = append(offsets, kafka.Offset(p.Offset))
		}
	}
	deadline := r.env.Now() + time.Duration(req.TimeoutMillis)*time.Millisecond
	shares := r.laneShares(len(offsets), func(i int) int {
		if w.delete.results[i].Code != kafka.None {
			return -1
		}
		return laneOf(w.delete.tps[i], r.cfg.DataLanes)
	})
	for lane, share := range shares {
		if len(share) == 0 {
			continue
		}
		post := deletePost{ID: w.id, Deadline: deadline}
		for _, i := range share {
			post.Parts = append(post.Parts, deletePart{Index: i, TP: w.delete.tps[i], Offset: offsets[i]})
		}
		w.missing++
		r.env.Post(node.Data(lane), post)
	}
	if w.missing == 0 {
		r.answerDelete(w)
	}
}

func (r *router) deleted(w *work, results []deleteResult) {
	for _, result := range results {
		w.delete.results[result.Index] = result
	}
	if w.missing--; w.missing == 0 {
		r.answerDelete(w)
	}
}

func (r *router) answerDelete(w *work) {
	r.end(w)
	req := w.request.Request.(*kmsg.DeleteRecordsRequest)
	res := kmsg.NewPtrDeleteRecordsResponse()
	i := 0
	for _, t := range req.Topics {
		topic := kmsg.NewDeleteRecordsResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			part := kmsg.NewDeleteRecordsResponseTopicPartition()
			part.Partition, part.LowWatermark, part.ErrorCode = p.Partition, int64(w.delete.results[i].Low), int16(w.delete.results[i].Code)
			topic.Partitions = append(topic.Partitions, part)
			i++
		}
		res.Topics = append(res.Topics, topic)
	}
	r.reply(w.conn, w.request, res)
}

// deleteRecords raises log starts for the lane's share of a DeleteRecords
// request and answers the router once.
func (d *dataLane) deleteRecords(m deletePost) {
	delayed := &replica.DelayedDelete{}
	for _, part := range m.Parts {
		status := replica.DeleteStatus{TP: part.TP, Low: kafka.NoOffset}
		if h := d.hosted[part.TP]; h == nil {
			status.Code = d.notHosted(part.TP)
		} else {
			before := h.log.LogStart()
			status.Required, status.Code = h.partition.DeleteRecords(part.Offset)
			d.traceLogStart(part.TP, before, "delete-records")
		}
		delayed.Partitions = append(delayed.Partitions, status)
	}
	var timer node.TimerID
	delayed.Done = func(statuses []replica.DeleteStatus) {
		d.timers.Cancel(timer)
		d.deleted(m, statuses)
	}
	if !d.purgatory.WatchDelete(delayed) {
		timer = d.timers.After(m.Deadline-d.env.Now(), func() { d.purgatory.ExpireDelete(delayed) })
	}
}

func (d *dataLane) deleted(m deletePost, statuses []replica.DeleteStatus) {
	results := make([]deleteResult, len(statuses))
	for i, s := range statuses {
		results[i] = deleteResult{Index: m.Parts[i].Index, Code: s.Code, Low: s.Low}
	}
	d.env.Post(node.Router, deletedPost{ID: m.ID, Results: results})
}
