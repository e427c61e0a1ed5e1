package kgohistory

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// CommitUncommittedOffsets is kgo's, recorded: it commits what was polled.
func (c *Client) CommitUncommittedOffsets(ctx context.Context) error {
	return c.commit(ctx, c.UncommittedOffsets(), nil)
}

// CommitOffsetsSync is kgo's, recorded.
func (c *Client) CommitOffsetsSync(ctx context.Context, offsets map[string]map[int32]kgo.EpochOffset, onDone committed) {
	c.commit(ctx, offsets, onDone)
}

// committed is how kgo tells what came of a commit.
type committed = func(*kgo.Client, *kmsg.OffsetCommitRequest, *kmsg.OffsetCommitResponse, error)

// commit returns the error of the request, or the first that a partition was
// answered with.
func (c *Client) commit(ctx context.Context, offsets map[string]map[int32]kgo.EpochOffset, onDone committed) (err error) {
	asked := sorted(offsets)
	session := c.member()
	attempts := make([]uint64, len(asked))
	for i, a := range asked {
		attempts[i] = c.rec.attempt()
		e := c.event(event.CommitInvoke, a.tp)
		e.Attempt, e.Offset, e.Session = attempts[i], kafka.Offset(a.value.Offset), session
		c.rec.write(&e)
	}
	answers := map[kafka.TopicPartition]int16{}
	c.Client.CommitOffsetsSync(ctx, offsets, func(cl *kgo.Client, req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, failed error) {
		err = failed
		if failed == nil && resp != nil {
			for _, t := range resp.Topics {
				for _, p := range t.Partitions {
					answers[kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}] = p.ErrorCode
				}
			}
		}
		if onDone != nil {
			onDone(cl, req, resp, failed)
		}
	})
	for i, a := range asked {
		e := c.event(event.CommitUnknown, a.tp)
		e.Attempt, e.Offset, e.Session = attempts[i], kafka.Offset(a.value.Offset), session
		if code, told := answers[a.tp]; told {
			e.Code = kafka.ErrorCode(code)
			if code == 0 {
				e.Kind = event.CommitOK
			} else if e.Kind = commitOutcome(code); err == nil {
				err = kerr.ErrorForCode(code)
			}
		}
		c.rec.write(&e)
	}
	return err
}

// fencedCommits are the answers of a coordinator that has refused a commit.
var fencedCommits = []error{kerr.IllegalGeneration, kerr.UnknownMemberID, kerr.FencedInstanceID, kerr.StaleMemberEpoch,
	kerr.RebalanceInProgress, kerr.GroupAuthorizationFailed, kerr.TopicAuthorizationFailed}

func commitOutcome(code int16) event.Kind {
	err := kerr.ErrorForCode(code)
	for _, e := range fencedCommits {
		if errors.Is(err, e) {
			return event.CommitFail
		}
	}
	return event.CommitUnknown
}

// BeginTransaction is kgo's, recorded; the first of a client waits for its producer
// id, so that who fences whom is known.
func (c *Client) BeginTransaction() error {
	return c.began(c.Client.BeginTransaction())
}

func (c *Client) began(err error) error {
	if err != nil {
		return err
	}
	if err := c.initialize(); err != nil {
		return err
	}
	s := event.NewSession()
	s.TransactionalID = c.txid
	c.rec.mu.Lock()
	c.rec.txns++
	s.Txn = c.rec.txns
	c.rec.mu.Unlock()
	c.mu.Lock()
	c.txn = &s
	c.mu.Unlock()
	e := event.New(event.TxnBegin)
	e.Client, e.Session = c.name, &s
	c.rec.write(&e)
	return nil
}

// initialize records that the client becomes the owner of its transactional id.
func (c *Client) initialize() error {
	if c.owner {
		return nil
	}
	s := event.NewSession()
	s.TransactionalID = c.txid
	e := event.New(event.InitProducerInvoke)
	e.Client, e.Attempt, e.Session = c.name, c.rec.attempt(), &s
	c.rec.write(&e)
	id, epoch, err := c.ProducerID(c.Context())
	owner := s
	owner.ProducerID, owner.ProducerEpoch = kafka.ProducerID(id), kafka.ProducerEpoch(epoch)
	e.Kind, e.Session = event.InitProducerOK, &owner
	if err != nil {
		e.Kind, e.Session = event.InitProducerUnknown, &s
	}
	c.rec.write(&e)
	c.owner = err == nil
	return err
}

// EndTransaction is kgo's, recorded. Any error leaves open how the transaction
// ended.
func (c *Client) EndTransaction(ctx context.Context, try kgo.TransactionEndTry) error {
	e := c.ending(try)
	err := c.Client.EndTransaction(ctx, try)
	c.ended(e, err)
	return err
}

// ending records that the transaction in progress is to end.
func (c *Client) ending(try kgo.TransactionEndTry) *event.Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := event.New(event.TxnEndInvoke)
	e.Client, e.Attempt, e.Session, e.Text = c.name, c.rec.attempt(), c.txn, "abort"
	if try == kgo.TryCommit {
		e.Text = "commit"
	}
	if e.Session != nil {
		c.rec.write(&e)
	}
	return &e
}

// ended records how it ended.
func (c *Client) ended(e *event.Event, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.txn = nil
	e.Kind = event.TxnEndOK
	if err != nil {
		e.Kind = event.TxnEndUnknown
	}
	if e.Session != nil {
		c.rec.write(e)
	}
}

// Crashed tells that the process of the client ended without a word, in a test that
// takes its connections away from it. What kgo does from here on is not recorded.
func (c *Client) Crashed() {
	e := event.New(event.ClientCrashed)
	e.Client = c.name
	c.rec.write(&e)
	c.rec.mu.Lock()
	defer c.rec.mu.Unlock()
	c.rec.crashed[c.name] = true
}
