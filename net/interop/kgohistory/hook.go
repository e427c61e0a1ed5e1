package kgohistory

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// sourceKey is MadeFrom's.
type sourceKey struct{}

// MadeFrom tells, as the context of a Produce, that the record is made from one that
// was read: then it can be seen whether that was processed twice.
func MadeFrom(ctx context.Context, source *kgo.Record) context.Context {
	return context.WithValue(ctx, sourceKey{}, fmt.Sprintf("%s-%d@%d", source.Topic, source.Partition, source.Offset))
}

// hook is a Client as kgo calls it for each record that is sent.
type hook Client

var (
	_ kgo.HookProduceRecordBuffered   = (*hook)(nil)
	_ kgo.HookProduceRecordUnbuffered = (*hook)(nil)
)

// OnProduceRecordBuffered is the invocation of a send: the record gets its attempt.
func (h *hook) OnProduceRecordBuffered(rec *kgo.Record) {
	c := (*Client)(h)
	attempt := c.rec.attempt()
	rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: AttemptHeader, Value: binary.BigEndian.AppendUint64(nil, attempt)})
	c.mu.Lock()
	e := c.send(event.SendInvoke, rec)
	e.Session = c.txn
	c.mu.Unlock()
	if rec.Context != nil {
		e.Source, _ = rec.Context.Value(sourceKey{}).(string)
	}
	e.Partition = -1 // the partitioner has not chosen yet
	c.rec.write(&e)
}

// OnProduceRecordUnbuffered is the outcome of a send.
func (h *hook) OnProduceRecordUnbuffered(rec *kgo.Record, err error) {
	c := (*Client)(h)
	e := c.send(outcome(err), rec)
	if e.Kind == event.SendOK {
		e.Offset = kafka.Offset(rec.Offset)
	}
	c.mu.Lock()
	if c.txn != nil || rec.ProducerID != 0 || rec.ProducerEpoch != 0 {
		s := event.NewSession()
		if c.txn != nil {
			s = *c.txn
		}
		s.ProducerID, s.ProducerEpoch = kafka.ProducerID(rec.ProducerID), kafka.ProducerEpoch(rec.ProducerEpoch)
		e.Session = &s
	}
	c.mu.Unlock()
	var code *kerr.Error
	if errors.As(err, &code) {
		e.Code = kafka.ErrorCode(code.Code)
	}
	c.rec.write(&e)
}

func (c *Client) send(k event.Kind, rec *kgo.Record) event.Event {
	e := c.event(k, kafka.TopicPartition{Topic: rec.Topic, Partition: rec.Partition})
	e.Attempt, e.Hash, e.Key, e.Acks, e.Text = attemptOf(rec), hashOf(rec.Value), keyOf(rec.Key), c.acks, event.Preview(rec.Value)
	e.Headers, e.Timestamp = headersOf(rec), kafka.Timestamp(rec.Timestamp.UnixMilli())
	return e
}

// headersOf is the hash of a record's headers.
func headersOf(rec *kgo.Record) uint64 {
	h := uint64(event.NoHeaders)
	for i := range rec.Headers {
		h = event.HashHeader(h, rec.Headers[i].Key, rec.Headers[i].Value)
	}
	return h
}

// neverWritten are the errors that prove that no broker has appended a record;
// any other may follow a try that was written and not answered.
var neverWritten = []error{kgo.ErrMaxBuffered, kerr.MessageTooLarge, kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed,
	kerr.InvalidTopicException}

func outcome(err error) event.Kind {
	if err == nil {
		return event.SendOK
	}
	for _, e := range neverWritten {
		if errors.Is(err, e) {
			return event.SendFail
		}
	}
	return event.SendUnknown
}
