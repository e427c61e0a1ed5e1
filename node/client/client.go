package client

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// Config is what a client is told at its birth; every time is positive.
type Config struct {
	Network NetworkConfig
	// Bootstrap are the host:port addresses that lead to the cluster, one at least.
	Bootstrap []string
	// Retry spaces metadata requests that did not help, and callers' retries.
	Retry Backoff
	// MetadataMaxAge is when metadata is asked for again without need.
	MetadataMaxAge time.Duration
	// MetadataMaxIdle is when a topic that nobody wants any more is forgotten;
	// 0 is never.
	MetadataMaxIdle time.Duration
	// RebootstrapTrigger is how long metadata may be asked for in vain before
	// the bootstrap addresses are used again.
	RebootstrapTrigger time.Duration
}

// consumerInFlight is how many unanswered requests Kafka's consumer and admin
// client allow on a connection; a producer is configured.
const consumerInFlight = 100

// NewConfig reads the keys that all clients share from c, whose scope is
// kafka.ProducerScope or kafka.ConsumerScope. name is the client.id unless c
// gives one.
func NewConfig(name string, bootstrap []string, c kafka.Config) Config {
	if c.Set(kafka.ClientID) {
		name = c.Text(kafka.ClientID)
	}
	return Config{
		Network: NetworkConfig{
			ClientID:       name,
			RequestTimeout: c.Millis(kafka.RequestTimeoutMs),
			Setup:          Backoff{c.Millis(kafka.SocketSetupTimeoutMs), c.Millis(kafka.SocketSetupTimeoutMaxMs)},
			Reconnect:      Backoff{c.Millis(kafka.ReconnectBackoffMs), c.Millis(kafka.ReconnectBackoffMaxMs)},
			MaxInFlight:    consumerInFlight,
		},
		Bootstrap:          bootstrap,
		Retry:              Backoff{c.Millis(kafka.RetryBackoffMs), c.Millis(kafka.RetryBackoffMaxMs)},
		MetadataMaxAge:     c.Millis(kafka.MetadataMaxAgeMs),
		RebootstrapTrigger: c.Millis(kafka.RebootstrapTriggerMs),
	}
}

// Client is one application's way to a cluster.
//
// The host hands it Receive and Disconnected, and fires the shared Timers. After
// each of these anything may have changed: a producer or consumer on top looks
// again then, as Kafka's loops do after each poll of the network.
type Client struct {
	env    node.Env
	timers *node.Timers
	cfg    Config
	net    *network
	md     *metadata
	wanted []wantedTopic // by name
	closed bool
	refresh
}

// wantedTopic is a topic that metadata is asked for.
type wantedTopic struct {
	name string
	used time.Duration // last Want
}

// New returns a client that begins to look for its cluster.
func New(env node.Env, timers *node.Timers, cfg Config) *Client {
	c := &Client{env: env, timers: timers, cfg: cfg, md: newMetadata()}
	c.net = newNetwork(env, timers, cfg.Network, c.maintain, c.broken)
	for i, addr := range cfg.Bootstrap {
		c.net.SetAddr(bootstrapID(i), addr)
	}
	c.refresh.succeeded = env.Now()
	c.RequestUpdate()
	return c
}

// bootstrapID is the id of the i-th bootstrap address, below every broker's.
func bootstrapID(i int) kafka.BrokerID { return kafka.NoBroker - 1 - kafka.BrokerID(i) }

// Receive takes an answer and reports whether conn is one of c's.
func (c *Client) Receive(conn node.ConnID, m *node.Message) bool { return c.net.Receive(conn, m) }

// Disconnected takes the end of a connection and reports whether conn was one of c's.
func (c *Client) Disconnected(conn node.ConnID) bool { return c.net.Disconnected(conn) }

// Close closes every connection. Calls that are not done are never done.
func (c *Client) Close() {
	c.closed = true
	c.timers.Cancel(c.refresh.timer)
	c.net.Close()
}

// Ready reports whether a call to a broker would be sent at once, and begins to
// connect to it if need be.
func (c *Client) Ready(id kafka.BrokerID) bool { return c.net.Ready(id) }

// RetryAt is the earliest instant at which a broker may be connected to; one in
// the past if it may be now, or is.
func (c *Client) RetryAt(id kafka.BrokerID) time.Duration { return c.net.RetryAt(id) }

// Retry is the client's back-off between attempts of one thing.
func (c *Client) Retry() Backoff { return c.cfg.Retry }

// Want makes metadata cover topic from now on.
func (c *Client) Want(topic string) {
	i, ok := slices.BinarySearchFunc(c.wanted, topic, func(w wantedTopic, name string) int {
		if w.name < name {
			return -1
		} else if w.name > name {
			return 1
		}
		return 0
	})
	if !ok {
		c.wanted = slices.Insert(c.wanted, i, wantedTopic{name: topic})
		c.RequestUpdate()
	}
	c.wanted[i].used = c.env.Now()
}

// Topic is what metadata says of a topic: false while nothing is known, or an
// error is (in Code of the answer).
func (c *Client) Topic(name string) (*Topic, bool) {
	t := c.md.topics[name]
	return t, t != nil && t.Code == kafka.None
}

// Leader is who leads a partition, as far as it is known.
func (c *Client) Leader(tp kafka.TopicPartition) LeaderAndEpoch { return c.md.leader(tp) }

// send sends a call to a broker.
func (c *Client) send(to kafka.BrokerID, call call) { c.net.Send(to, call) }

// sendAny sends a call to the controller that metadata names (in KRaft any
// broker that forwards), else to the least loaded node.
func (c *Client) sendAny(call call) {
	to := c.md.controller
	if !c.net.Usable(to) {
		to, _ = c.leastLoaded()
	}
	c.net.Send(to, call)
}

// noteLeader takes in the new leader that an answer names, with the addresses
// that came with it (KIP-951).
func (c *Client) noteLeader(tp kafka.TopicPartition, leader, epoch int32, brokers []Broker) {
	if leader < 0 || epoch < 0 {
		return
	}
	for _, b := range brokers {
		if b.ID == kafka.BrokerID(leader) {
			c.md.addBroker(b)
			c.net.SetAddr(b.ID, b.Addr)
		}
	}
	c.md.moved(tp, LeaderAndEpoch{kafka.BrokerID(leader), kafka.LeaderEpoch(epoch)})
}

// topicID is the topic's id, zero if it is not known.
func (c *Client) topicID(name string) kafka.UUID {
	if t := c.md.topics[name]; t != nil {
		return t.ID
	}
	return kafka.UUID{}
}

// answerOf gives a call's answer its type, nil if there is none.
func answerOf[T kmsg.Response](r kmsg.Response) (t T) {
	t, _ = r.(T)
	return t
}
