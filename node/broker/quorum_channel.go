package broker

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/quorum"
)

// Waits between attempts to connect to a controller, as KafkaRaftManager sets
// them for its client.
const (
	reconnectBackoff    = 50 * time.Millisecond
	reconnectBackoffMax = 500 * time.Millisecond
)

// quorumChannel carries an observer's Fetch to the leader of the metadata log:
// one connection, one request at a time.
type quorumChannel struct {
	lane     *quorumLane
	clientID string
	addr     string
	conn     node.ConnID // 0: none
	last     int32       // correlation id
	timeout  node.TimerID
	failures int // to connect, in a row
}

func newQuorumChannel(l *quorumLane) *quorumChannel {
	return &quorumChannel{lane: l, clientID: "raft-client-" + itoa(int64(l.cfg.ID))}
}

// Fetch implements quorum.Channel.
func (c *quorumChannel) Fetch(to kafka.BrokerID, req quorum.FetchRequest) {
	env := c.lane.env
	if addr := c.lane.voterAddr(to); c.conn == 0 || c.addr != addr {
		c.hangUp()
		c.addr, c.conn = addr, env.Dial(addr)
	}
	c.last++
	env.Send(c.conn, &node.Message{CorrelationID: c.last, ClientID: c.clientID, Request: raftFetchRequest(req)})
	c.timeout = c.lane.timers.After(c.lane.cfg.Properties.Millis(kafka.QuorumRequestTimeoutMs), func() {
		c.hangUp()
		c.lane.raft.HandleFetchFailure()
	})
}

func (c *quorumChannel) hangUp() {
	if c.conn != 0 {
		c.lane.env.Close(c.conn)
	}
	c.conn = 0
}

// receive takes the leader's answer; one that cannot be read is none.
func (c *quorumChannel) receive(conn node.ConnID, m *node.Message) {
	if conn != c.conn || m.CorrelationID != c.last {
		return
	}
	c.lane.timers.Cancel(c.timeout)
	c.failures = 0
	res, ok := m.Response.(*kmsg.FetchResponse)
	if ok {
		var answer quorum.FetchResponse
		if answer, ok = raftFetchAnswer(res); ok {
			c.lane.raft.HandleFetchResponse(answer)
			return
		}
	}
	c.hangUp()
	c.lane.raft.HandleFetchFailure()
}

// disconnected lets the replica try again after a pause that doubles.
func (c *quorumChannel) disconnected(conn node.ConnID) {
	if conn != c.conn {
		return
	}
	c.lane.timers.Cancel(c.timeout)
	c.conn = 0
	pause := min(reconnectBackoff<<min(c.failures, 4), reconnectBackoffMax)
	c.failures++
	c.lane.timers.After(pause, c.lane.raft.HandleFetchFailure)
}
