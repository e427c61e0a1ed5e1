package kgohistory

import (
	"context"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// Client is a kgo.Client whose sends, polls, commits and transactions are recorded:
// those through Produce and its kind, and through the methods of Client. What else
// a kgo.Client can do passes unseen.
type Client struct {
	*kgo.Client
	rec  *Recorder
	name string

	acks      int16
	txid      string
	group     string
	isolation event.Isolation

	mu        sync.Mutex
	txn       *event.Session // of the transaction in progress, nil for none
	positions map[kafka.TopicPartition]kafka.Offset
}

// NewClient makes a client with kgo's options that is in no group.
func (r *Recorder) NewClient(name string, opts ...kgo.Opt) (*Client, error) {
	return r.newClient(name, func(*Client) []kgo.Opt { return opts })
}

// NewGroupClient makes a client with kgo's options, among them kgo.ConsumerGroup.
// Its callbacks for partitions that are assigned, revoked and lost are taken:
// kgo.OnPartitionsAssigned and the like must not be among the options.
func (r *Recorder) NewGroupClient(name string, opts ...kgo.Opt) (*Client, error) {
	return r.newClient(name, func(c *Client) []kgo.Opt {
		return append(opts, kgo.OnPartitionsAssigned(c.moved(event.Assigned)), kgo.OnPartitionsRevoked(c.moved(event.Revoked)),
			kgo.OnPartitionsLost(c.moved(event.Lost)))
	})
}

func (r *Recorder) newClient(name string, opts func(*Client) []kgo.Opt) (*Client, error) {
	c := &Client{rec: r, name: name, positions: map[kafka.TopicPartition]kafka.Offset{}}
	// Callbacks that come before the fields below are set wait.
	c.mu.Lock()
	defer c.mu.Unlock()
	cl, err := kgo.NewClient(append(opts(c), kgo.WithHooks((*hook)(c)))...)
	if err != nil {
		return nil, err
	}
	c.Client = cl
	c.acks = -1
	switch cl.OptValue(kgo.RequiredAcks) {
	case kgo.NoAck():
		c.acks = 0
	case kgo.LeaderAck():
		c.acks = 1
	}
	c.txid, _ = cl.OptValue(kgo.TransactionalID).(string)
	c.group, _ = cl.OptValue(kgo.ConsumerGroup).(string)
	if cl.OptValue(kgo.FetchIsolationLevel) == kgo.ReadCommitted() {
		c.isolation = event.ReadCommitted
	}
	c.tellProfile()
	return c, nil
}

// tellProfile tells the settings that promises depend on.
func (c *Client) tellProfile() {
	disabled, _ := c.OptValue(kgo.DisableIdempotentWrite).(bool)
	acks := strconv.Itoa(int(c.acks))
	if c.acks == -1 {
		acks = "all"
	}
	c.rec.Setting("producer "+c.name, kafka.Acks, acks)
	c.rec.Setting("producer "+c.name, "enable.idempotence", strconv.FormatBool(!disabled))
	level := "read_uncommitted"
	if c.isolation == event.ReadCommitted {
		level = "read_committed"
	}
	c.rec.Setting("consumer "+c.name, kafka.IsolationLevel, level)
}

func (c *Client) event(k event.Kind, tp kafka.TopicPartition) event.Event {
	e := event.New(k)
	e.Client, e.Topic, e.Partition = c.name, tp.Topic, tp.Partition
	return e
}

// member is the session of a group's member, nil without group.
func (c *Client) member() *event.Session {
	if c.group == "" {
		return nil
	}
	s := event.NewSession()
	s.Group = c.group
	s.Member, s.Generation = c.GroupMetadata()
	return &s
}

// moved records that partitions came or went.
func (c *Client) moved(k event.Kind) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(_ context.Context, _ *kgo.Client, byTopic map[string][]int32) {
		all := map[string]map[int32]struct{}{}
		for topic, ps := range byTopic {
			all[topic] = map[int32]struct{}{}
			for _, p := range ps {
				all[topic][p] = struct{}{}
			}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, p := range sorted(all) {
			e := c.event(k, p.tp)
			e.Session = c.member()
			c.rec.write(&e)
			delete(c.positions, p.tp)
		}
	}
}

// PollFetches is kgo's, recorded.
func (c *Client) PollFetches(ctx context.Context) kgo.Fetches { return c.PollRecords(ctx, 0) }

// PollRecords is kgo's, recorded: what it returns counts as given to the
// application.
func (c *Client) PollRecords(ctx context.Context, most int) kgo.Fetches {
	e := event.New(event.PollInvoke)
	e.Client, e.Attempt = c.name, c.rec.attempt()
	c.rec.write(&e)
	fetches := c.Client.PollRecords(ctx, most)
	c.mu.Lock()
	defer c.mu.Unlock()
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if p.Err == nil && len(p.Records) > 0 {
			c.polled(e.Attempt, &p)
		}
	})
	return fetches
}

// polled records what one partition gave. Its position before is where the last
// poll ended; what lies between that and the first record was not for the reader.
func (c *Client) polled(attempt uint64, p *kgo.FetchTopicPartition) {
	tp := kafka.TopicPartition{Topic: p.Topic, Partition: p.Partition}
	first := kafka.Offset(p.Records[0].Offset)
	from, known := c.positions[tp]
	if !known {
		reset := c.event(event.PositionReset, tp)
		reset.End, reset.Text = first, "assign"
		c.rec.write(&reset)
		from = first
	}
	e := c.event(event.PollOK, tp)
	e.Attempt, e.Offset, e.End = attempt, min(from, first), kafka.Offset(p.Records[len(p.Records)-1].Offset)+1
	e.HighWatermark, e.LastStable, e.Isolation, e.Session = kafka.Offset(p.HighWatermark), kafka.Offset(p.LastStableOffset), c.isolation, c.member()
	if c.isolation == event.ReadCommitted {
		e.Drained = e.End == e.LastStable
	} else {
		e.Drained = e.End == e.HighWatermark
	}
	for _, rec := range p.Records {
		e.Records = append(e.Records, sighted(rec))
	}
	c.positions[tp] = e.End
	c.rec.write(&e)
}

func sighted(rec *kgo.Record) event.Record {
	r := event.Record{Offset: kafka.Offset(rec.Offset), Epoch: kafka.LeaderEpoch(rec.LeaderEpoch)}
	if rec.Attrs.IsControl() {
		r.Control = event.AbortMarker
		var key kmsg.ControlRecordKey
		if key.ReadFrom(rec.Key) == nil && key.Type == kmsg.ControlRecordKeyTypeCommit {
			r.Control = event.CommitMarker
		}
		return r
	}
	r.Attempt, r.Hash, r.Key = attemptOf(rec), hashOf(rec.Value), keyOf(rec.Key)
	return r
}
