package broker

import (
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/replica"
)

// produceWork is a Produce request in work.
type produceWork struct {
	tps     []kafka.TopicPartition // in request order
	results []produceResult
	// Room for the one partition that most requests have.
	oneTP     [1]kafka.TopicPartition
	oneResult [1]produceResult
}

// handleProduce serves Produce, key 0, versions 3 to 13 (from 13 on with topic
// ids). Each partition is checked here as far as the metadata and the framing
// of its one batch tell; the rest goes to its data lane, all under one
// deadline. With acks=0 there is no answer: the next request of the connection
// is taken once the batches are appended, and an error ends the connection,
// which makes the client refresh its metadata.
func (r *router) handleProduce(conn node.ConnID, m *node.Message) {
	req := m.Request.(*kmsg.ProduceRequest)
	w := r.begin(conn, m)
	p := &produceWork{}
	p.tps, p.results = p.oneTP[:0], p.oneResult[:0]
	w.produce = p
	batches := r.batches[:0]
	for _, t := range req.Topics {
		name, code := r.topicName(m.Version() >= 13, t.TopicID, t.Topic)
		for i := range t.Partitions {
			tp := kafka.TopicPartition{Topic: name, Partition: t.Partitions[i].Partition}
			batch := t.Partitions[i].Records
			result := produceResult{Code: code, Base: kafka.NoOffset, LogAppendTime: -1, LogStart: kafka.NoOffset}
			if code == kafka.None {
				result.Code = r.checkProduce(tp, batch, req)
			}
			p.tps, p.results, batches = append(p.tps, tp), append(p.results, result), append(batches, batch)
		}
	}
	r.batches = batches
	deadline := r.env.Now() + time.Duration(req.TimeoutMillis)*time.Millisecond
	shares := r.laneShares(len(batches), func(i int) int {
		if p.results[i].Code != kafka.None {
			return -1
		}
		return laneOf(p.tps[i], r.cfg.DataLanes)
	})
	for lane, share := range shares {
		if len(share) == 0 {
			continue
		}
		post := producePost{ID: w.id, Acks: req.Acks, Deadline: deadline, Parts: make([]producePart, len(share))}
		for k, i := range share {
			post.Parts[k] = producePart{Index: i, TP: p.tps[i], Batch: batches[i]}
		}
		w.missing++
		r.env.Post(node.Data(lane), post)
	}
	clear(batches) // they are the lanes' now
	if w.missing == 0 {
		r.answerProduce(w)
	}
}

// produceZstd is the first Produce version whose clients may send zstd (KIP-110).
const produceZstd = 7

// magicAt is the place of the magic byte, the same in every record format.
const magicAt = 16

// checkProduce makes Kafka's checks before ReplicaManager, in its order:
// metadata, exactly one batch of magic 2, acks, internal topic.
func (r *router) checkProduce(tp kafka.TopicPartition, records []byte, req *kmsg.ProduceRequest) kafka.ErrorCode {
	if code := r.partitionKnown(tp); code != kafka.None {
		return code
	}
	b, rest, err := record.Next(records)
	switch {
	case len(records) > magicAt && records[magicAt] != 2, errors.Is(err, record.ErrTruncated):
		return kafka.InvalidRecord
	case err != nil:
		return kafka.CorruptMessage
	case len(rest) > 0:
		return kafka.InvalidRecord
	case req.Version < produceZstd && b.Compression() == record.Zstd:
		return kafka.UnsupportedCompressionType
	case !replica.ValidAcks(req.Acks):
		return kafka.InvalidRequiredAcks
	case internalTopic(tp.Topic):
		return kafka.InvalidTopic
	}
	return kafka.None
}

func (r *router) produced(w *work, results []produceResult) {
	for _, result := range results {
		w.produce.results[result.Index] = result
	}
	if w.missing--; w.missing == 0 {
		r.answerProduce(w)
	}
}

func (r *router) answerProduce(w *work) {
	r.end(w)
	if w.request.Request.(*kmsg.ProduceRequest).Acks == replica.AcksNone {
		for _, result := range w.produce.results {
			if result.Code != kafka.None {
				r.env.Close(w.conn)
				return
			}
		}
		r.env.Release(w.conn)
		return
	}
	r.reply(w.conn, w.request, r.produceResponse(w))
}

// produceHintVersion is the first Produce version that tells the new leader.
const produceHintVersion = 10

func (r *router) produceResponse(w *work) *kmsg.ProduceResponse {
	req := w.request.Request.(*kmsg.ProduceRequest)
	res := kmsg.NewPtrProduceResponse()
	hints := leaderHints{image: r.image}
	i := 0
	for _, t := range req.Topics {
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic, topic.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			result := w.produce.results[i]
			part := kmsg.NewProduceResponseTopicPartition()
			part.Partition, part.ErrorCode = p.Partition, int16(result.Code)
			part.BaseOffset, part.LogAppendTime, part.LogStartOffset = int64(result.Base), int64(result.LogAppendTime), int64(result.LogStart)
			if result.Code == kafka.NotLeaderOrFollower && w.request.Version() >= produceHintVersion {
				part.CurrentLeader.LeaderID, part.CurrentLeader.LeaderEpoch = hints.leader(w.produce.tps[i])
			}
			topic.Partitions = append(topic.Partitions, part)
			i++
		}
		res.Topics = append(res.Topics, topic)
	}
	for _, b := range hints.Brokers {
		broker := kmsg.NewProduceResponseBroker()
		broker.NodeID, broker.Host, broker.Port, broker.Rack = b.ID, b.Host, b.Port, b.Rack
		res.Brokers = append(res.Brokers, broker)
	}
	return res
}
