package consumer

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/client"
	"tidemark/node/client/clienttest"
)

// lane is a consumer in a scripted cluster that has topic t.
type lane struct {
	*clienttest.World
	t      *testing.T
	c      *client.Client
	con    *Consumer
	timers *node.Timers
	values []string // records returned, as partition:offset=value
	said   []string // what the listener was told
	polls  []Polled
	sizes  []int // records of each poll
}

func start(t *testing.T, brokers, partitions int, pairs ...kafka.Pair) *lane {
	t.Helper()
	props, err := kafka.NewConsumerConfig(pairs...)
	if err != nil {
		t.Fatal(err)
	}
	l := &lane{World: clienttest.New(t, brokers), t: t}
	l.Topic("t", partitions)
	l.timers = node.NewTimers(l.Env())
	l.c = client.New(l.Env(), l.timers, client.NewConfig("c", l.Bootstrap(), props))
	l.con = New(l.Env(), l.timers, l.c, NewConfig(props), l)
	l.Host = l
	l.c.Want("t")
	l.Advance(2 * time.Second)
	return l
}

func (l *lane) Receive(c node.ConnID, m *node.Message) { l.c.Receive(c, m); l.poll() }
func (l *lane) Disconnected(c node.ConnID)             { l.c.Disconnected(c); l.poll() }
func (l *lane) Fire(id node.TimerID)                   { l.timers.Fire(id); l.poll() }

func (l *lane) poll() {
	for {
		polled := l.con.Poll()
		if len(polled) == 0 {
			return
		}
		l.polls = append(l.polls, polled...)
		size := len(l.values)
		for _, p := range polled {
			for _, r := range p.Records {
				l.values = append(l.values, fmt.Sprintf("%d:%d=%s", p.TP.Partition, r.Offset, r.Value))
			}
		}
		l.sizes = append(l.sizes, len(l.values)-size)
	}
}

func (l *lane) Moved(tp kafka.TopicPartition, before, after kafka.Offset, reason string) {
	l.said = append(l.said, fmt.Sprintf("%v %d->%d %s", tp, before, after, reason))
}

func (l *lane) Truncated(tp kafka.TopicPartition, at, end kafka.Offset, epoch kafka.LeaderEpoch) {
	l.said = append(l.said, fmt.Sprintf("%v truncated at %d: end %d epoch %d", tp, at, end, epoch))
}

func (l *lane) Failed(tp kafka.TopicPartition, at kafka.Offset, code kafka.ErrorCode) {
	l.said = append(l.said, fmt.Sprintf("%v failed at %d: %v", tp, at, code))
}

// assign assigns the first n partitions of t and seeks each to an offset.
func (l *lane) assign(n int32, offset kafka.Offset) {
	var tps []kafka.TopicPartition
	for i := range n {
		tps = append(tps, tp(i))
	}
	l.con.Assign(tps)
	for _, p := range tps {
		l.con.Seek(p, offset)
	}
	l.poll()
	l.Run()
}

func tp(partition int32) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: "t", Partition: partition}
}

// batch is the bytes of a batch of values.
func batch(base kafka.Offset, epoch kafka.LeaderEpoch, values ...string) []byte {
	o := record.NoProducer()
	o.BaseOffset, o.LeaderEpoch = base, epoch
	b := record.NewBuilder(o)
	for _, v := range values {
		b.Append(1, nil, []byte(v), nil)
	}
	return b.Build()
}

// fetched takes the next fetch request.
func (l *lane) fetched() *fetchRequest {
	l.t.Helper()
	r := l.Take(clienttest.Fetch)
	return &fetchRequest{Request: r, l: l, body: r.Body.(*kmsg.FetchRequest), session: 77}
}

type fetchRequest struct {
	*clienttest.Request
	l       *lane
	body    *kmsg.FetchRequest
	session int32
	res     []kmsg.FetchResponseTopicPartition
	code    kafka.ErrorCode
}

// part is the request's entry for a partition; nil without one.
func (r *fetchRequest) part(n int32) *kmsg.FetchRequestTopicPartition {
	for i := range r.body.Topics {
		for j := range r.body.Topics[i].Partitions {
			if p := &r.body.Topics[i].Partitions[j]; p.Partition == n {
				return p
			}
		}
	}
	return nil
}

// with adds a partition to the answer.
func (r *fetchRequest) with(n int32, code kafka.ErrorCode, hw kafka.Offset, records []byte) *fetchRequest {
	p := kmsg.NewFetchResponseTopicPartition()
	p.Partition, p.ErrorCode, p.HighWatermark, p.RecordBatches = n, int16(code), int64(hw), records
	r.res = append(r.res, p)
	return r
}

func (r *fetchRequest) reply() {
	res := kmsg.NewPtrFetchResponse()
	res.SessionID, res.ErrorCode = r.session, int16(r.code)
	if len(r.res) > 0 {
		t := kmsg.NewFetchResponseTopic()
		t.TopicID, t.Partitions = r.l.TopicID("t"), r.res
		res.Topics = append(res.Topics, t)
	}
	r.Answer(res)
	r.l.Run()
}

// tellOffset answers the next ListOffsets for one partition.
func (l *lane) tellOffset(n int32, code kafka.ErrorCode, offset kafka.Offset, epoch kafka.LeaderEpoch) *kmsg.ListOffsetsRequest {
	l.t.Helper()
	r := l.Take(clienttest.ListOffsets)
	res := kmsg.NewPtrListOffsetsResponse()
	t := kmsg.NewListOffsetsResponseTopic()
	t.Topic = "t"
	p := kmsg.NewListOffsetsResponseTopicPartition()
	p.Partition, p.ErrorCode, p.Offset, p.LeaderEpoch = n, int16(code), int64(offset), int32(epoch)
	t.Partitions = append(t.Partitions, p)
	res.Topics = append(res.Topics, t)
	r.Answer(res)
	l.Run()
	return r.Body.(*kmsg.ListOffsetsRequest)
}

// tellEpochEnd answers the next OffsetsForLeaderEpoch for partition 0.
func (l *lane) tellEpochEnd(code kafka.ErrorCode, epoch kafka.LeaderEpoch, end kafka.Offset) *kmsg.OffsetForLeaderEpochRequest {
	l.t.Helper()
	r := l.Take(clienttest.OffsetForLeaderEpoch)
	res := kmsg.NewPtrOffsetForLeaderEpochResponse()
	t := kmsg.NewOffsetForLeaderEpochResponseTopic()
	t.Topic = "t"
	p := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
	p.ErrorCode, p.LeaderEpoch, p.EndOffset = int16(code), int32(epoch), int64(end)
	t.Partitions = append(t.Partitions, p)
	res.Topics = append(res.Topics, t)
	r.Answer(res)
	l.Run()
	return r.Body.(*kmsg.OffsetForLeaderEpochRequest)
}

func set(key, value string) kafka.Pair { return kafka.Pair{Key: key, Value: value} }
