package broker

import (
	"slices"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/replica"
	"tidemark/node/storage"
)

// produce appends the lane's share of a Produce request and answers the router
// once: when the logs that flush.messages made due are synced, which Kafka does
// within the append, and those whose rolled segments outrun their fsyncs; with
// acks=all when every batch is committed besides, lost its leader, or the request's
// deadline is over.
func (d *dataLane) produce(m producePost) {
	share := &produceShare{}
	delayed := &share.DelayedProduce
	delayed.Partitions = slices.Grow(share.one[:0], len(m.Parts))
	delayed.Done = func(statuses []replica.ProduceStatus) { d.produced(m, statuses) }
	var due []flushDue
	for i, part := range m.Parts {
		status := replica.ProduceStatus{TP: part.TP}
		if h := d.hosted[part.TP]; h == nil {
			status.Code = d.notHosted(part.TP)
		} else {
			status.Result, status.Code = h.partition.AppendAsLeader(part.Batch, m.Acks)
			status.Required = status.Result.Last + 1
			if status.Code == kafka.None && status.Result.FlushDue {
				due = append(due, flushDue{i, h.log})
			}
		}
		delayed.Partitions = append(delayed.Partitions, status)
	}
	if m.Acks != replica.AcksAll {
		d.afterFlush(delayed, due, func() { delayed.Done(delayed.Partitions) })
		return
	}
	d.purgatory.WatchProduce(delayed)
	d.afterFlush(delayed, due, func() {
		if !d.purgatory.TryProduce(delayed) {
			d.expireProduce(m, delayed)
		}
	})
}

// produceShare is a lane's share of a Produce, with room for the one partition that
// most requests have.
type produceShare struct {
	replica.DelayedProduce
	one [1]replica.ProduceStatus
}

// flushDue is the log that the i-th partition of a request is to be synced in.
type flushDue struct {
	i   int
	log *storage.Log
}

// afterFlush goes on once what is due is synced. A partition whose log could not
// be gets KAFKA_STORAGE_ERROR: its batch is in the page cache, and may be gone after a restart.
func (d *dataLane) afterFlush(delayed *replica.DelayedProduce, due []flushDue, then func()) {
	if len(due) == 0 {
		then()
		return
	}
	left := len(due)
	done := func() {
		if left--; left == 0 {
			then()
		}
	}
	for _, f := range due {
		f.log.Flush(func(err error) {
			if err != nil {
				status := &delayed.Partitions[f.i]
				status.Code = kafka.KafkaStorageError
				d.StorageFailed(status.TP, err)
			}
			done()
		})
	}
}

// expireProduce ends the wait at the deadline. The timer of a request that was
// answered before is taken back.
func (d *dataLane) expireProduce(m producePost, delayed *replica.DelayedProduce) {
	timer := d.timers.After(m.Deadline-d.env.Now(), func() { d.purgatory.ExpireProduce(delayed) })
	answer := delayed.Done
	delayed.Done = func(statuses []replica.ProduceStatus) {
		d.timers.Cancel(timer)
		answer(statuses)
	}
}

func (d *dataLane) produced(m producePost, statuses []replica.ProduceStatus) {
	results := make([]produceResult, len(statuses))
	for i, s := range statuses {
		results[i] = produceResult{Index: m.Parts[i].Index, Code: s.Code, Base: kafka.NoOffset, LogAppendTime: -1, LogStart: kafka.NoOffset}
		if s.Code == kafka.None {
			results[i].Base, results[i].LogAppendTime, results[i].LogStart = s.Result.First, s.Result.LogAppendTime, s.Result.LogStart
		}
	}
	d.env.Post(node.Router, producedPost{ID: m.ID, Results: results})
}

// notHosted is the answer for a partition that has no replica here.
func (d *dataLane) notHosted(tp kafka.TopicPartition) kafka.ErrorCode {
	switch {
	case d.lost[tp]:
		return kafka.KafkaStorageError
	case d.image != nil:
		if _, known := d.image.Partition(tp); !known {
			return kafka.UnknownTopicOrPartition
		}
	}
	return kafka.NotLeaderOrFollower
}
