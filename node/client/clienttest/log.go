package clienttest

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// Serve gives the brokers one shared, perfect log for each partition: Produce
// appends, Fetch reads to the end and waits there for fetch.max.wait.ms,
// ListOffsets and OffsetForLeaderEpoch answer from it, CreateTopics creates.
func (w *World) Serve() {
	w.logs = map[kafka.TopicPartition]*log{}
	w.On[Produce] = w.serveProduce
	w.On[Fetch] = func(r *Request) { w.serveFetch(r, false) }
	w.On[ListOffsets] = w.serveListOffsets
	w.On[OffsetForLeaderEpoch] = w.serveEpochs
	w.On[CreateTopics] = w.serveCreateTopics
}

// log is one partition's batches.
type log struct {
	bytes []byte
	start kafka.Offset
	end   kafka.Offset
	short kafka.Offset // how far the high watermark is behind the end
}

// Lag keeps a partition's high watermark n records behind its end.
func (w *World) Lag(topic string, partition int32, n kafka.Offset) {
	w.log(topic, partition).short = n
}

// CutLog shortens a partition's log to its first n records; no batch may
// straddle the cut.
func (w *World) CutLog(topic string, partition int32, n kafka.Offset) {
	l := w.log(topic, partition)
	rest := l.bytes
	for len(rest) > 0 {
		b, tail, err := record.Next(rest)
		if err != nil {
			w.t.Fatalf("a log does not decode: %v", err)
		}
		if b.BaseOffset() >= n {
			break
		}
		rest = tail
	}
	l.bytes = l.bytes[:len(l.bytes)-len(rest)]
	l.end = n
}

func (w *World) log(topic string, partition int32) *log {
	tp := kafka.TopicPartition{Topic: topic, Partition: partition}
	if w.logs[tp] == nil {
		w.logs[tp] = &log{}
	}
	return w.logs[tp]
}

func (l *log) hw() kafka.Offset { return max(l.end-l.short, l.start) }

// Append adds a batch of one record to a partition's log.
func (w *World) Append(topic string, partition int32, value string) {
	b := record.NewBuilder(record.NoProducer())
	b.Append(1, nil, []byte(value), nil)
	w.log(topic, partition).append(b.Build(), kafka.LeaderEpoch(w.topic(topic).epochs[partition]))
}

func (l *log) append(b record.Batch, epoch kafka.LeaderEpoch) {
	b.SetBaseOffset(l.end)
	b.SetLeaderEpoch(epoch)
	l.bytes, l.end = append(l.bytes, b...), b.NextOffset()
}

// from is the batches that hold offsets at or after o, up to the high
// watermark, and up to a number of bytes after the first batch.
func (l *log) from(o kafka.Offset, limit int) []byte {
	var out []byte
	for rest := l.bytes; len(rest) > 0; {
		b, tail, err := record.Next(rest)
		if err != nil {
			panic(err)
		}
		if len(out) > 0 && len(out)+len(b) > limit {
			break
		}
		if b.NextOffset() > o && b.NextOffset() <= l.hw() {
			out = append(out, b...)
		}
		rest = tail
	}
	return out
}

// leads is the error for a broker that does not lead a partition, or 0.
func (w *World) leads(r *Request, t *topic, partition int32) int16 {
	switch {
	case t == nil || int(partition) >= len(t.leaders):
		return int16(kafka.UnknownTopicOrPartition)
	case t.leaders[partition] != int32(r.Broker):
		return int16(kafka.NotLeaderOrFollower)
	}
	return 0
}

func (w *World) serveProduce(r *Request) {
	req := r.Body.(*kmsg.ProduceRequest)
	res := kmsg.NewPtrProduceResponse()
	for _, rt := range req.Topics {
		t := w.topicByID(rt.TopicID)
		out := kmsg.NewProduceResponseTopic()
		out.TopicID = rt.TopicID
		for _, p := range rt.Partitions {
			a := kmsg.NewProduceResponseTopicPartition()
			a.Partition, a.ErrorCode = p.Partition, w.leads(r, t, p.Partition)
			if a.ErrorCode == 0 {
				l := w.log(t.name, p.Partition)
				a.BaseOffset = int64(l.end)
				l.append(p.Records, kafka.LeaderEpoch(t.epochs[p.Partition]))
			}
			out.Partitions = append(out.Partitions, a)
		}
		res.Topics = append(res.Topics, out)
	}
	if req.Acks != 0 {
		r.Answer(res)
	}
}

func (w *World) serveFetch(r *Request, waited bool) {
	req := r.Body.(*kmsg.FetchRequest)
	res := kmsg.NewPtrFetchResponse()
	news := waited
	for _, rt := range req.Topics {
		t := w.topicByID(rt.TopicID)
		out := kmsg.NewFetchResponseTopic()
		out.TopicID = rt.TopicID
		for _, p := range rt.Partitions {
			a := kmsg.NewFetchResponseTopicPartition()
			a.Partition, a.ErrorCode, a.HighWatermark = p.Partition, w.leads(r, t, p.Partition), -1
			if a.ErrorCode == 0 {
				l := w.log(t.name, p.Partition)
				a.HighWatermark, a.RecordBatches = int64(l.hw()), l.from(kafka.Offset(p.FetchOffset), int(p.PartitionMaxBytes))
				if o := kafka.Offset(p.FetchOffset); o < l.start || o > l.end {
					a.ErrorCode = int16(kafka.OffsetOutOfRange)
				}
			}
			news = news || a.ErrorCode != 0 || len(a.RecordBatches) > 0
			out.Partitions = append(out.Partitions, a)
		}
		res.Topics = append(res.Topics, out)
	}
	if news {
		r.Answer(res)
		return
	}
	w.post(time.Duration(req.MaxWaitMillis)*time.Millisecond, func() { w.serveFetch(r, true) })
}

func (w *World) serveListOffsets(r *Request) {
	res := kmsg.NewPtrListOffsetsResponse()
	for _, rt := range r.Body.(*kmsg.ListOffsetsRequest).Topics {
		out := kmsg.NewListOffsetsResponseTopic()
		out.Topic = rt.Topic
		t := w.topic(rt.Topic)
		for _, p := range rt.Partitions {
			a := kmsg.NewListOffsetsResponseTopicPartition()
			a.Partition, a.ErrorCode, a.Offset = p.Partition, w.leads(r, t, p.Partition), -1
			if a.ErrorCode == 0 {
				l := w.log(rt.Topic, p.Partition)
				a.Offset, a.LeaderEpoch = int64(l.start), t.epochs[p.Partition]
				if p.Timestamp == -1 {
					a.Offset = int64(l.end)
				}
			}
			out.Partitions = append(out.Partitions, a)
		}
		res.Topics = append(res.Topics, out)
	}
	r.Answer(res)
}

// serveEpochs tells the end of an epoch: the log end for the present one, else
// the base of the first batch of a later one.
func (w *World) serveEpochs(r *Request) {
	res := kmsg.NewPtrOffsetForLeaderEpochResponse()
	for _, rt := range r.Body.(*kmsg.OffsetForLeaderEpochRequest).Topics {
		out := kmsg.NewOffsetForLeaderEpochResponseTopic()
		out.Topic = rt.Topic
		for _, p := range rt.Partitions {
			a := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			l := w.log(rt.Topic, p.Partition)
			a.Partition, a.ErrorCode = p.Partition, w.leads(r, w.topic(rt.Topic), p.Partition)
			a.LeaderEpoch, a.EndOffset = p.LeaderEpoch, int64(l.end)
			for rest := l.bytes; len(rest) > 0; {
				b, tail, err := record.Next(rest)
				if err != nil {
					panic(err)
				}
				if int32(b.LeaderEpoch()) > p.LeaderEpoch {
					a.EndOffset = int64(b.BaseOffset())
					break
				}
				rest = tail
			}
			out.Partitions = append(out.Partitions, a)
		}
		res.Topics = append(res.Topics, out)
	}
	r.Answer(res)
}

func (w *World) serveCreateTopics(r *Request) {
	res := kmsg.NewPtrCreateTopicsResponse()
	for _, t := range r.Body.(*kmsg.CreateTopicsRequest).Topics {
		out := kmsg.NewCreateTopicsResponseTopic()
		out.Topic = t.Topic
		if w.topic(t.Topic) != nil {
			out.ErrorCode = int16(kafka.TopicAlreadyExists)
		} else {
			w.Topic(t.Topic, max(int(t.NumPartitions), len(t.ReplicaAssignment), 1))
		}
		res.Topics = append(res.Topics, out)
	}
	r.Answer(res)
}
