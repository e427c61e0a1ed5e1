package kgohistory

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// Transact is a kgo.GroupTransactSession that is recorded: a member of a group that
// consumes, transforms and produces within transactions. What is polled counts as
// processed by the transaction in progress, so Begin comes first:
//
//	Begin ─▶ PollFetches ─▶ Produce … ─▶ End
//
// After a transaction that did not commit, positions are where the group committed
// last. Between two Ends kgo tells of the first revocation alone: a partition that went
// without a word is recorded as lost when it is assigned again, and if it never is, as
// held to the end. The checker takes neither for certain.
type Transact struct {
	*Client
	session *kgo.GroupTransactSession
}

// NewTransact makes a session with kgo's options, among them kgo.ConsumerGroup and
// kgo.TransactionalID. Its callbacks are taken, as NewGroupClient's.
func (r *Recorder) NewTransact(name string, opts ...kgo.Opt) (*Transact, error) {
	t := new(Transact)
	c, err := r.newClient(name, groupOpts(opts), func(all []kgo.Opt) (cl *kgo.Client, err error) {
		if t.session, err = kgo.NewGroupTransactSession(all...); err == nil {
			cl = t.session.Client()
		}
		return cl, err
	})
	t.Client = c
	return t, err
}

// Close is kgo's.
func (t *Transact) Close() { t.session.Close() }

// Begin is kgo's, recorded.
func (t *Transact) Begin() error { return t.began(t.session.Begin()) }

// End is kgo's, recorded: offsets that it commits, and how the transaction ended. A
// commit that kgo turned into an abort has failed for certain.
func (t *Transact) End(ctx context.Context, try kgo.TransactionEndTry) (committed bool, err error) {
	end := t.ending(try)
	var offsets []event.Event
	ctx = kgo.PreTxnCommitFnContext(ctx, func(req *kmsg.TxnOffsetCommitRequest) error {
		offsets = t.committing(req)
		return nil
	})
	committed, err = t.session.End(ctx, try)
	for _, e := range offsets {
		e.Kind = event.CommitUnknown
		if committed {
			e.Kind = event.CommitOK
		}
		t.rec.write(&e)
	}
	switch {
	case committed || err != nil || try == kgo.TryAbort:
		t.ended(end, err)
	default:
		end.Kind = event.TxnEndFail
		t.rec.write(end)
		t.ended(t.ending(kgo.TryAbort), nil)
	}
	if !committed {
		t.rewound()
	}
	return committed, err
}

// committing records that a transaction commits offsets, and returns the events.
func (t *Transact) committing(req *kmsg.TxnOffsetCommitRequest) (all []event.Event) {
	session := t.processing()
	for _, topic := range req.Topics {
		for _, p := range topic.Partitions {
			e := t.event(event.CommitInvoke, kafka.TopicPartition{Topic: topic.Topic, Partition: p.Partition})
			e.Attempt, e.Offset, e.Session = t.rec.attempt(), kafka.Offset(p.Offset), session
			t.rec.write(&e)
			all = append(all, e)
		}
	}
	return all
}

// processing is the session of what belongs to a member and to its transaction.
func (t *Transact) processing() *event.Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.within()
}
