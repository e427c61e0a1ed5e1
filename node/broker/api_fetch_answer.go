package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/node/storage"
)

// answerFetch sends the answer of a Fetch: all partitions, or in an incremental
// session those with something to tell.
func (r *router) answerFetch(w *work) {
	r.end(w)
	f := w.fetch
	f.trim()
	req := w.request.Request.(*kmsg.FetchRequest)
	id, told, code := r.sessions.answer(f.context, req, f.results, r.env)
	answer := fetchAnswer{version: req.Version, hints: leaderHints{image: r.image}, res: kmsg.NewPtrFetchResponse()}
	answer.res.SessionID, answer.res.ErrorCode = id, int16(code)
	for i := range f.asked {
		if code == kafka.None && told[i] {
			answer.add(f.asked[i], &f.results[i], req.IsolationLevel)
		} else {
			f.results[i].Slice.Region.Release()
		}
	}
	for _, b := range answer.hints.Brokers {
		broker := kmsg.NewFetchResponseBroker()
		broker.NodeID, broker.Host, broker.Port, broker.Rack = b.ID, b.Host, b.Port, b.Rack
		answer.res.Brokers = append(answer.res.Brokers, broker)
	}
	m := w.request.Reply(answer.res)
	m.Regions = answer.regions
	r.env.Send(w.conn, m)
}

// trim keeps the answer within max bytes. Each lane kept its own share within
// them; across lanes, a slice that no longer fits is left for the next fetch.
// The first one always stays, or a large batch would stop the reader for ever.
func (f *fetchWork) trim() {
	left, first := f.max, true
	for i := range f.results {
		slice := &f.results[i].Slice
		if slice.Bytes == 0 {
			continue
		}
		if slice.Bytes > left && !first {
			slice.Region.Release()
			slice.Region, slice.Bytes = noRegion, 0
			continue
		}
		first = false
		left = max(left-slice.Bytes, 0)
	}
}

// fetchAnswer builds a FetchResponse, with one region per partition in it.
type fetchAnswer struct {
	version int16
	res     *kmsg.FetchResponse
	regions []disk.Region
	hints   leaderHints
}

func (a *fetchAnswer) add(asked askedPartition, result *fetchResult, isolation int8) {
	p := kmsg.NewFetchResponseTopicPartition()
	p.Partition, p.ErrorCode = asked.part.partition, int16(result.Code)
	p.HighWatermark, p.LastStableOffset = int64(result.HighWatermark), int64(result.LastStable)
	p.LogStartOffset = int64(result.LogStart)
	p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset = int32(result.Diverging.Epoch), int64(result.Diverging.End)
	p.RecordBatches = []byte{} // never null; the region stands for them
	if isolation == readCommitted {
		p.AbortedTransactions = abortedTransactions(result.Aborted)
	}
	if a.version >= fetchHints && (result.Code == kafka.NotLeaderOrFollower || result.Code == kafka.FencedLeaderEpoch) {
		p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = a.hints.leader(asked.tp)
	}
	a.regions = append(a.regions, result.Slice.Region)
	t := a.topic(asked.part)
	t.Partitions = append(t.Partitions, p)
}

// readCommitted is the isolation level that wants the list of aborted
// transactions. Other readers get null.
const readCommitted = 1

func abortedTransactions(aborted []storage.AbortedTransaction) []kmsg.FetchResponseTopicPartitionAbortedTransaction {
	list := make([]kmsg.FetchResponseTopicPartitionAbortedTransaction, len(aborted))
	for i, a := range aborted {
		list[i].ProducerID, list[i].FirstOffset = int64(a.ProducerID), int64(a.First)
	}
	return list
}

// topic is the part of the response for p: the last one if it is of the same
// topic, since the order of partitions is that of the request.
func (a *fetchAnswer) topic(p *sessionPart) *kmsg.FetchResponseTopic {
	if n := len(a.res.Topics); n > 0 {
		if last := &a.res.Topics[n-1]; last.Topic == p.topic && last.TopicID == p.id {
			return last
		}
	}
	t := kmsg.NewFetchResponseTopic()
	t.Topic, t.TopicID = p.topic, p.id
	a.res.Topics = append(a.res.Topics, t)
	return &a.res.Topics[len(a.res.Topics)-1]
}
