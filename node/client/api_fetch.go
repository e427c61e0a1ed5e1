package client

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
)

// Fetch, versions 4 to 18. From 12 leader epochs fence on both sides (KIP-320,
// KIP-595), from 13 topics go by id, from 16 an answer names the new leader.

// FetchPartition is one partition of a fetch as a consumer asks for it. The
// Java consumer tells no last fetched epoch, so neither does this one: it
// learns of truncation from OffsetsForLeaderEpoch.
type FetchPartition struct {
	TP       kafka.TopicPartition
	TopicID  kafka.UUID
	Epoch    kafka.LeaderEpoch // current leader epoch as the client knows it
	Offset   kafka.Offset
	MaxBytes int32
}

// FetchCall is a fetch of a consumer.
type FetchCall struct {
	MaxWait            time.Duration
	Isolation          Isolation
	MinBytes, MaxBytes int32
	SessionID          int32 // 0: none yet
	SessionEpoch       int32 // 0: full, new session; from 1: incremental; -1: full, no session
	Partitions         []FetchPartition
	Forgotten          []FetchPartition // leave the session; TP and TopicID count
}

// Fetched is the answer for one partition.
type Fetched struct {
	TP            kafka.TopicPartition
	Code          kafka.ErrorCode
	HighWatermark kafka.Offset
	LastStable    kafka.Offset // NoOffset from a broker that does not tell
	LogStart      kafka.Offset
	// Aborted lists the aborted transactions that have records in Records, for
	// ReadCommitted.
	Aborted []AbortedTransaction
	Records []byte // whole batches and perhaps the beginning of one more
}

// Isolation is the isolation level of a consumer's requests (KIP-98).
type Isolation int8

// The isolation levels: up to the high watermark, or up to the last stable offset.
const (
	ReadUncommitted Isolation = 0
	ReadCommitted   Isolation = 1
)

// AbortedTransaction says that the transaction which a producer began at offset
// First was aborted.
type AbortedTransaction struct {
	ProducerID kafka.ProducerID
	First      kafka.Offset
}

// FetchAnswer is the answer to a FetchCall. In an incremental session it lists
// only partitions with news.
type FetchAnswer struct {
	Code       kafka.ErrorCode // of the session
	SessionID  int32           // 0: the broker granted none
	Partitions []Fetched
}

// Fetch sends a fetch. done gets the answer, or a code if there is none.
func (c *Client) Fetch(to kafka.BrokerID, f FetchCall, done func(FetchAnswer, kafka.ErrorCode)) {
	req := kmsg.NewPtrFetchRequest()
	req.ReplicaID = -1
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = millis(f.MaxWait), f.MinBytes, f.MaxBytes
	req.SessionID, req.SessionEpoch = f.SessionID, f.SessionEpoch
	req.IsolationLevel = int8(f.Isolation)
	names := topicNames{}
	limit := int16(0)
	note := func(p FetchPartition) {
		names.add(p.TopicID, p.TP.Topic)
		if p.TopicID.IsZero() {
			limit = lastFetchByName
		}
	}
	for _, p := range f.Partitions {
		note(p)
		addFetchPartition(req, p)
	}
	for _, p := range f.Forgotten {
		note(p)
		t := kmsg.NewFetchRequestForgottenTopic()
		t.Topic, t.TopicID, t.Partitions = p.TP.Topic, p.TopicID, []int32{p.TP.Partition}
		req.ForgottenTopics = append(req.ForgottenTopics, t)
	}
	c.send(to, call{Request: req, MaxVersion: limit, Done: func(r kmsg.Response, code kafka.ErrorCode) {
		if code != kafka.None {
			done(FetchAnswer{}, code)
			return
		}
		done(c.readFetched(r.(*kmsg.FetchResponse), names), kafka.None)
	}})
}

func addFetchPartition(req *kmsg.FetchRequest, p FetchPartition) {
	last := len(req.Topics) - 1
	if last < 0 || req.Topics[last].Topic != p.TP.Topic || req.Topics[last].TopicID != p.TopicID {
		t := kmsg.NewFetchRequestTopic()
		t.Topic, t.TopicID = p.TP.Topic, p.TopicID
		req.Topics = append(req.Topics, t)
		last++
	}
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset = p.TP.Partition, int64(p.Offset)
	part.CurrentLeaderEpoch, part.PartitionMaxBytes = int32(p.Epoch), p.MaxBytes
	req.Topics[last].Partitions = append(req.Topics[last].Partitions, part)
}

// readFetched reads an answer. An incremental one may speak of topics that
// only an earlier request of its session named, so ids that this request does
// not hold are looked up in metadata.
func (c *Client) readFetched(r *kmsg.FetchResponse, names topicNames) FetchAnswer {
	names.byID = r.Version > lastFetchByName
	for _, w := range c.wanted {
		names.add(c.topicID(w.name), w.name)
	}
	var brokers []Broker
	for _, b := range r.Brokers {
		brokers = append(brokers, Broker{kafka.BrokerID(b.NodeID), hostPort(b.Host, b.Port)})
	}
	a := FetchAnswer{Code: kafka.ErrorCode(r.ErrorCode), SessionID: r.SessionID}
	for i := range r.Topics {
		name := names.name(r.Topics[i].TopicID, r.Topics[i].Topic)
		for j := range r.Topics[i].Partitions {
			p := &r.Topics[i].Partitions[j]
			tp := kafka.TopicPartition{Topic: name, Partition: p.Partition}
			c.noteLeader(tp, p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch, brokers)
			a.Partitions = append(a.Partitions, Fetched{TP: tp, Code: kafka.ErrorCode(p.ErrorCode),
				HighWatermark: kafka.Offset(p.HighWatermark), LastStable: kafka.Offset(p.LastStableOffset), LogStart: kafka.Offset(p.LogStartOffset),
				Aborted: readAborted(p.AbortedTransactions), Records: p.RecordBatches})
		}
	}
	return a
}

func readAborted(list []kmsg.FetchResponseTopicPartitionAbortedTransaction) []AbortedTransaction {
	var aborted []AbortedTransaction
	for i := range list {
		aborted = append(aborted, AbortedTransaction{kafka.ProducerID(list[i].ProducerID), kafka.Offset(list[i].FirstOffset)})
	}
	return aborted
}
