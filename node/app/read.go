package app

import (
	"fmt"
	"slices"
	"strconv"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/model/record"
	"tidemark/node/client"
	"tidemark/node/consumer"
)

// reader is a client's consumer: reading on, or verifying a topic once. It is
// the consumer's listener.
type reader struct {
	app      *app
	client   *client.Client
	consumer *consumer.Consumer
	waiting  []*plan.Step // read and verify steps whose topic is not known yet
	verified *verification
}

// newReader replaces the client's consumer. resetTo overrides
// auto.offset.reset; nil keeps it.
func (a *app) newReader(resetTo *kafka.Timestamp) *reader {
	a.closeReader()
	cfg := consumer.NewConfig(a.consumerProps)
	if resetTo != nil {
		cfg.ResetTo = *resetTo
	}
	r := &reader{app: a, client: client.New(a.env, a.timers, client.NewConfig(a.cfg.Name, a.cfg.Bootstrap, a.consumerProps))}
	r.consumer = consumer.New(a.env, a.timers, r.client, cfg, r)
	a.reader = r
	return r
}

func (a *app) closeReader() {
	if a.reader != nil {
		a.reader.consumer.Close()
		a.reader = nil
	}
}

// read adds partitions to what the client reads; a verification in progress
// ends unfinished.
func (a *app) read(s *plan.Step) {
	r := a.reader
	if r == nil || r.verified != nil {
		r = a.newReader(nil)
	}
	r.client.Want(s.Topic)
	r.waiting = append(r.waiting, s)
}

// turn lets steps begin whose topic got known and takes what was fetched.
func (r *reader) turn() {
	r.waiting = slices.DeleteFunc(r.waiting, r.begin)
	for {
		polled := r.consumer.Poll()
		if len(polled) == 0 {
			break
		}
		for i := range polled {
			r.polled(&polled[i])
		}
	}
	if r.verified != nil {
		r.checkDrained()
	}
}

// begin assigns a step's partitions, once its topic is known.
func (r *reader) begin(s *plan.Step) bool {
	tps := partitionsOf(r.client, s.Topic, s.Partition)
	if len(tps) == 0 {
		return false
	}
	if s.Verb == plan.VerbVerify {
		r.beginVerify(tps)
		return true
	}
	r.consumer.Assign(append(r.consumer.Assignment(), tps...))
	for _, tp := range tps {
		r.seek(tp, s.From)
	}
	return true
}

func (r *reader) seek(tp kafka.TopicPartition, from string) {
	switch from {
	case "earliest":
		r.consumer.SeekTo(tp, client.Earliest)
	case "latest":
		r.consumer.SeekTo(tp, client.Latest)
	default:
		o, err := strconv.ParseInt(from, 10, 64)
		if err != nil {
			panic("app: read from " + from + ": the plan should have refused it")
		}
		r.consumer.Seek(tp, kafka.Offset(o))
	}
}

func (r *reader) polled(p *consumer.Polled) {
	e := r.event(event.PollOK, p.TP)
	e.Offset, e.End, e.HighWatermark = p.Before, p.After, p.HighWatermark
	// What a verification has read to the end, it tells by itself.
	e.Drained = r.verified == nil && p.After == p.HighWatermark
	for i := range p.Records {
		rec := &p.Records[i]
		seen := event.Record{Offset: rec.Offset, Epoch: rec.Epoch,
			Attempt: r.app.attemptOf(rec.Headers), Hash: event.HashNullable(rec.Value), Key: event.HashNullable(rec.Key),
			Headers: headersOf(rec.Headers)}
		if rec.TimestampType == record.CreateTime {
			seen.Timestamp = rec.Timestamp
		}
		e.Records = append(e.Records, seen)
	}
	r.app.env.Emit(&e)
}

func (r *reader) event(k event.Kind, tp kafka.TopicPartition) event.Event {
	e := event.New(k)
	e.Client, e.Topic, e.Partition = r.app.cfg.Name, tp.Topic, tp.Partition
	return e
}

// Moved tells that a position moved without consumption.
func (r *reader) Moved(tp kafka.TopicPartition, before, after kafka.Offset, reason string) {
	e := r.event(event.PositionReset, tp)
	e.Offset, e.End, e.Text = before, after, reason
	r.app.env.Emit(&e)
}

// Truncated tells that the log was cut below a position.
func (r *reader) Truncated(tp kafka.TopicPartition, position, end kafka.Offset, epoch kafka.LeaderEpoch) {
	e := r.event(event.TruncationDetected, tp)
	e.Offset, e.End, e.Epoch = position, end, epoch
	r.app.env.Emit(&e)
}

// Failed tells of an exception that Kafka's consumer would throw.
func (r *reader) Failed(tp kafka.TopicPartition, position kafka.Offset, code kafka.ErrorCode) {
	e := r.event(event.Effect, tp)
	e.Offset, e.Code = position, code
	e.Text = fmt.Sprintf("consumer %s: %v at offset %d: %v", r.app.cfg.Name, tp, position, code)
	r.app.env.Emit(&e)
}
