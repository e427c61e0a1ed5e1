package kgohistory

import (
	"context"
	"strconv"
	"sync"
	"time"

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
	owner     bool // of its transactional id: it has a producer id

	mu        sync.Mutex
	txn       *event.Session // of the transaction in progress, nil for none
	positions map[kafka.TopicPartition]kafka.Offset
	// starts are where the group has a partition begin; sought tells which of them
	// an aborted transaction sent back there.
	starts  map[kafka.TopicPartition]kafka.Offset
	sought  map[kafka.TopicPartition]bool
	fetches map[kafka.TopicPartition]uint64 // attempts of fetches of committed offsets
	// held are the partitions that were assigned and not taken back, with the member
	// that they were assigned to.
	held map[kafka.TopicPartition]*event.Session
}

// NewClient makes a client with kgo's options that is in no group.
func (r *Recorder) NewClient(name string, opts ...kgo.Opt) (*Client, error) {
	return r.newClient(name, func(*Client) []kgo.Opt { return opts }, newKgo)
}

func newKgo(opts []kgo.Opt) (*kgo.Client, error) { return kgo.NewClient(opts...) }

// NewGroupClient makes a client with kgo's options, among them kgo.ConsumerGroup.
// Its callbacks for partitions that are assigned, revoked and lost, and for offsets
// that are fetched, are taken: kgo.OnPartitionsAssigned and the like must not be among
// the options.
func (r *Recorder) NewGroupClient(name string, opts ...kgo.Opt) (*Client, error) {
	return r.newClient(name, groupOpts(opts), newKgo)
}

func groupOpts(opts []kgo.Opt) func(c *Client) []kgo.Opt {
	return func(c *Client) []kgo.Opt {
		return append(opts, kgo.OnPartitionsAssigned(c.moved(event.Assigned)), kgo.OnPartitionsRevoked(c.moved(event.Revoked)),
			kgo.OnPartitionsLost(c.moved(event.Lost)), kgo.OnOffsetsFetched(c.fetched))
	}
}

func (r *Recorder) newClient(name string, opts func(*Client) []kgo.Opt, make func([]kgo.Opt) (*kgo.Client, error)) (*Client, error) {
	c := &Client{rec: r, name: name, positions: map[kafka.TopicPartition]kafka.Offset{}, starts: map[kafka.TopicPartition]kafka.Offset{},
		sought: map[kafka.TopicPartition]bool{}, fetches: map[kafka.TopicPartition]uint64{}, held: map[kafka.TopicPartition]*event.Session{}}
	// Callbacks that come before the fields below are set wait.
	c.mu.Lock()
	defer c.mu.Unlock()
	cl, err := make(append(opts(c), kgo.WithHooks((*hook)(c))))
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
	if level, _ := cl.OptValue(kgo.FetchIsolationLevel).(int8); level == 1 {
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
	if d, ok := c.OptValue(kgo.SessionTimeout).(time.Duration); ok && c.group != "" {
		c.rec.Setting("consumer "+c.name, "session.timeout.ms", strconv.FormatInt(d.Milliseconds(), 10))
	}
	if d, ok := c.OptValue(kgo.TransactionTimeout).(time.Duration); ok && c.txid != "" {
		c.rec.Setting("producer "+c.name, "transaction.timeout.ms", strconv.FormatInt(d.Milliseconds(), 10))
	}
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

// moved records that partitions came or went. What is assigned anew was taken in
// between, whether kgo told of it or not (NewTransact).
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
			if was, held := c.held[p.tp]; held && k == event.Assigned {
				lost := c.event(event.Lost, p.tp)
				lost.Session = was
				c.rec.write(&lost)
			}
			e := c.event(k, p.tp)
			e.Session = c.member()
			c.rec.write(&e)
			delete(c.held, p.tp)
			delete(c.positions, p.tp)
			delete(c.starts, p.tp)
			delete(c.sought, p.tp)
			if k == event.Assigned {
				c.held[p.tp] = e.Session
				c.fetches[p.tp] = c.rec.attempt()
				ask := c.event(event.FetchCommittedInvoke, p.tp)
				ask.Attempt, ask.Session = c.fetches[p.tp], e.Session
				c.rec.write(&ask)
			}
		}
	}
}

// fetched records the offsets that the group has committed of partitions that were
// assigned: kgo asks for them after it tells of the assignment.
func (c *Client) fetched(_ context.Context, _ *kgo.Client, resp *kmsg.OffsetFetchResponse) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range resp.Groups {
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				c.found(kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}, p.Offset, p.ErrorCode)
			}
		}
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			c.found(kafka.TopicPartition{Topic: t.Topic, Partition: p.Partition}, p.Offset, p.ErrorCode)
		}
	}
	return nil
}

func (c *Client) found(tp kafka.TopicPartition, offset int64, code int16) {
	attempt, asked := c.fetches[tp]
	if !asked {
		return
	}
	delete(c.fetches, tp)
	e := c.event(event.FetchCommittedOK, tp)
	e.Attempt, e.Session, e.Offset = attempt, c.member(), kafka.Offset(offset)
	if code != 0 {
		e.Kind, e.Code = event.FetchCommittedFail, kafka.ErrorCode(code)
	} else if offset >= 0 {
		c.starts[tp] = kafka.Offset(offset)
	}
	c.rec.write(&e)
}

// rewound is after a transaction that did not commit: what it was given is read
// again, from where the group committed last.
func (c *Client) rewound() {
	committed := c.CommittedOffsets()
	c.mu.Lock()
	defer c.mu.Unlock()
	for tp := range c.positions {
		delete(c.positions, tp)
		delete(c.starts, tp)
		c.sought[tp] = true
		if o, ok := committed[tp.Topic][tp.Partition]; ok && o.Offset >= 0 {
			c.starts[tp] = kafka.Offset(o.Offset)
		}
	}
}

// within is the session of what a member does: in its transaction, if there is one.
func (c *Client) within() *event.Session {
	s := c.member()
	switch {
	case c.txn == nil:
		return s
	case s == nil:
		return c.txn
	}
	s.TransactionalID, s.Txn = c.txn.TransactionalID, c.txn.Txn
	return s
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
		var told bool
		if from, told = c.starts[tp]; !told || from > first {
			from = first
		}
		reset := c.event(event.PositionReset, tp)
		reset.End, reset.Text = from, "assign"
		if c.sought[tp] {
			reset.Text = "seek"
		}
		c.rec.write(&reset)
	}
	e := c.event(event.PollOK, tp)
	e.Attempt, e.Offset, e.End = attempt, min(from, first), kafka.Offset(p.Records[len(p.Records)-1].Offset)+1
	e.HighWatermark, e.LastStable, e.Isolation, e.Session = kafka.Offset(p.HighWatermark), kafka.Offset(p.LastStableOffset), c.isolation, c.within()
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
	r.Attempt, r.Hash, r.Key, r.Headers = attemptOf(rec), hashOf(rec.Value), keyOf(rec.Key), headersOf(rec)
	if rec.Attrs.TimestampType() == 0 { // CreateTime: what the producer said
		r.Timestamp = kafka.Timestamp(rec.Timestamp.UnixMilli())
	}
	return r
}
