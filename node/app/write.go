package app

import (
	"encoding/binary"
	"slices"
	"strconv"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/model/record"
	"tidemark/node/client"
	"tidemark/node/producer"
)

// attemptHeader is the record header that carries the id of an attempt: 8
// bytes, big-endian.
const attemptHeader = "attempt"

// writer is a client's producer and what it has sent.
type writer struct {
	app      *app
	client   *client.Client
	producer *producer.Producer
	acks     int16
	attempts uint32         // sends so far
	written  int            // records of write steps so far: values do not repeat
	session  *event.Session // the one that outcomes told last
}

// producer is the client's producer, made with the settings declared so far.
func (a *app) producer() *writer {
	if a.writer == nil {
		c := client.New(a.env, a.timers, producer.ClientConfig(a.cfg.Name, a.cfg.Bootstrap, a.producerProps))
		cfg := producer.NewConfig(a.producerProps)
		a.writer = &writer{app: a, client: c, producer: producer.New(a.env, a.timers, c, cfg), acks: cfg.Acks}
	}
	return a.writer
}

func (w *writer) sendStep(s *plan.Step) {
	r := producer.Record{Topic: s.Topic, Partition: s.Partition}
	if s.Verb != plan.VerbTombstone {
		r.Value = []byte(s.Value)
	}
	if s.HasKey {
		r.Key = []byte(s.RecordKey)
	}
	w.send(r)
}

// write sends the records of a write step one by one at its pace. It ends
// early if the client is told to stop.
func (w *writer) write(s *plan.Step) {
	left := s.Count
	var next func()
	next = func() {
		if left == 0 || w.app.stopping {
			return
		}
		left--
		w.written++
		w.send(w.nextRecord(s))
		w.app.timers.After(s.Every, next)
	}
	next()
}

// nextRecord is the next record of a write step. Keys go round, and values are
// filled up with dots.
func (w *writer) nextRecord(s *plan.Step) producer.Record {
	r := producer.Record{Topic: s.Topic, Partition: s.Partition, Value: []byte(w.app.cfg.Name + "-" + strconv.Itoa(w.written))}
	if s.Keys > 0 {
		r.Key = []byte("k-" + strconv.Itoa((w.written-1)%s.Keys+1))
	}
	for len(r.Value) < s.Size {
		r.Value = append(r.Value, '.')
	}
	return r
}

// send hands a record to the producer and tells its history.
func (w *writer) send(r producer.Record) {
	w.attempts++
	attempt := uint64(w.app.env.Node())<<32 | uint64(w.attempts)
	r.Headers = []record.Header{{Key: attemptHeader, Value: binary.BigEndian.AppendUint64(nil, attempt)}}
	r.Timestamp = w.app.env.Wall()

	e := event.New(event.SendInvoke)
	e.Client, e.Topic, e.Partition = w.app.cfg.Name, r.Topic, r.Partition
	e.Attempt, e.Hash, e.Key, e.Acks, e.Text = attempt, event.HashNullable(r.Value), event.HashNullable(r.Key), w.acks, event.Preview(r.Value)
	e.Headers, e.Timestamp = headersOf(r.Headers), r.Timestamp
	w.app.env.Emit(&e)
	w.producer.Send(r, func(res producer.Result) { w.ended(&e, res) })
}

// ended tells what became of the send that began with the event invoked.
func (w *writer) ended(invoked *event.Event, r producer.Result) {
	kind := event.SendUnknown
	switch r.Outcome {
	case producer.Acked:
		kind = event.SendOK
	case producer.Failed:
		kind = event.SendFail
	}
	e := event.New(kind)
	e.Client, e.Topic, e.Partition, e.Offset = w.app.cfg.Name, r.TP.Topic, r.TP.Partition, r.Offset
	e.Attempt, e.Hash, e.Key, e.Acks, e.Code, e.Text = invoked.Attempt, invoked.Hash, invoked.Key, w.acks, r.Code, invoked.Text
	e.Session = w.identity(r)
	w.app.env.Emit(&e)
}

// identity is the session of a record that was sent with a producer id, nil for
// one that was not.
func (w *writer) identity(r producer.Result) *event.Session {
	if r.ProducerID < 0 {
		return nil
	}
	if s := w.session; s == nil || s.ProducerID != r.ProducerID || s.ProducerEpoch != r.ProducerEpoch {
		fresh := event.NewSession()
		fresh.ProducerID, fresh.ProducerEpoch = r.ProducerID, r.ProducerEpoch
		w.session = &fresh
	}
	return w.session
}

// headersOf is the hash of a record's headers.
func headersOf(headers []record.Header) uint64 {
	h := uint64(event.NoHeaders)
	for i := range headers {
		h = event.HashHeader(h, headers[i].Key, headers[i].Value)
	}
	return h
}

// attemptOf is the attempt that a record carries, 0 for a foreign record: one
// without an attempt, or of a node that is no client of the run.
func (a *app) attemptOf(headers []record.Header) uint64 {
	for i := range headers {
		if headers[i].Key != attemptHeader || len(headers[i].Value) != 8 {
			continue
		}
		attempt := binary.BigEndian.Uint64(headers[i].Value)
		if a.cfg.Run == nil || slices.Contains(a.cfg.Run, kafka.BrokerID(attempt>>32)) {
			return attempt
		}
	}
	return 0
}

// partitionsOf are the partitions that a step speaks of: one, or all that
// metadata has of its topic; none while the topic is not known.
func partitionsOf(c *client.Client, topic string, partition int32) []kafka.TopicPartition {
	c.Want(topic)
	if partition >= 0 {
		return []kafka.TopicPartition{{Topic: topic, Partition: partition}}
	}
	t, ok := c.Topic(topic)
	if !ok {
		return nil
	}
	var tps []kafka.TopicPartition
	for i := range t.Partitions {
		tps = append(tps, kafka.TopicPartition{Topic: topic, Partition: int32(i)})
	}
	return tps
}
