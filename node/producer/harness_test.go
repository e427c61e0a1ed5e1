package producer

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

// lane is a producer in a scripted cluster that has topic t.
type lane struct {
	*clienttest.World
	t       *testing.T
	c       *client.Client
	p       *Producer
	timers  *node.Timers
	results map[string]Result // by value
	order   []string          // values in order of their results
}

// start runs a producer with settings key=value against n brokers and a topic
// t with so many partitions.
func start(t *testing.T, brokers, partitions int, pairs ...kafka.Pair) *lane {
	t.Helper()
	props, err := kafka.NewProducerConfig(pairs...)
	if err != nil {
		t.Fatal(err)
	}
	l := &lane{World: clienttest.New(t, brokers), t: t, results: map[string]Result{}}
	l.Topic("t", partitions)
	l.timers = node.NewTimers(l.Env())
	l.c = client.New(l.Env(), l.timers, ClientConfig("p", l.Bootstrap(), props))
	l.p = New(l.Env(), l.timers, l.c, NewConfig(props))
	l.Host = l
	l.c.Want("t")
	l.Advance(time.Second)
	for id := 1; id <= brokers; id++ {
		l.c.Ready(kafka.BrokerID(id))
	}
	l.Run()
	return l
}

func (l *lane) Receive(c node.ConnID, m *node.Message) { l.c.Receive(c, m); l.p.Poll() }
func (l *lane) Disconnected(c node.ConnID)             { l.c.Disconnected(c); l.p.Poll() }
func (l *lane) Fire(id node.TimerID)                   { l.timers.Fire(id); l.p.Poll() }

// send hands over records to a partition of t and runs what is due.
func (l *lane) send(partition int32, values ...string) {
	for _, v := range values {
		l.p.Send(Record{Topic: "t", Partition: partition, Value: []byte(v)}, l.note(v))
	}
	l.p.Poll()
	l.Run()
}

func (l *lane) note(v string) func(Result) {
	return func(r Result) {
		if _, twice := l.results[v]; twice {
			l.t.Errorf("record %s has two results", v)
		}
		l.results[v] = r
		l.order = append(l.order, v)
	}
}

// want checks one record's result.
func (l *lane) want(value string, offset kafka.Offset, code kafka.ErrorCode, o Outcome) {
	l.t.Helper()
	r, ok := l.results[value]
	if !ok {
		l.t.Fatalf("record %s has no result", value)
	}
	if r.Offset != offset || r.Code != code || r.Outcome != o {
		l.t.Errorf("record %s: offset %d, %v, outcome %d; want offset %d, %v, outcome %d",
			value, r.Offset, r.Code, r.Outcome, offset, code, o)
	}
}

// request is a produce request with its batches decoded.
type request struct {
	*clienttest.Request
	l *lane
}

func (l *lane) take() request {
	l.t.Helper()
	return request{l.Take(clienttest.Produce), l}
}

// values are the partition's records as text, e.g. "0:[a b]".
func (r request) values() string {
	out := ""
	for _, t := range r.Body.(*kmsg.ProduceRequest).Topics {
		for _, p := range t.Partitions {
			b := record.Batch(p.Records)
			if err := b.Check(); err != nil {
				r.l.t.Fatalf("batch of partition %d: %v", p.Partition, err)
			}
			var vs []string
			_ = b.Each(func(rec record.Record) error {
				vs = append(vs, string(rec.Value))
				return nil
			})
			out += fmt.Sprintf("%d:%v", p.Partition, vs)
		}
	}
	return out
}

// reply answers every partition with code and base offset.
func (r request) reply(code kafka.ErrorCode, base kafka.Offset) {
	res := kmsg.NewPtrProduceResponse()
	for _, t := range r.Body.(*kmsg.ProduceRequest).Topics {
		rt := kmsg.NewProduceResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			rp := kmsg.NewProduceResponseTopicPartition()
			rp.Partition, rp.ErrorCode, rp.BaseOffset = p.Partition, int16(code), int64(base)
			rt.Partitions = append(rt.Partitions, rp)
		}
		res.Topics = append(res.Topics, rt)
	}
	r.Answer(res)
	r.l.Run()
}

func set(key, value string) kafka.Pair { return kafka.Pair{Key: key, Value: value} }
