package broker

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// channel carries one kind of request to the active controller, over a
// connection of its own and one at a time, as Kafka's
// NodeToControllerChannelManager does: a request that fails on the way, or that
// a node which is not the controller answers, is sent again until its time is
// over. So a request may take effect twice; every one sent here is idempotent,
// or checked by an epoch, or costs a block of producer ids.
type channel struct {
	env      node.Env
	timers   *node.Timers
	clientID string
	attempt  time.Duration // one attempt's time-out
	patience time.Duration // a call older than that is given up; 0: never

	addr   string      // of the active controller, "" unknown
	conn   node.ConnID // 0: none
	dialed string      // where conn leads
	last   int32       // correlation id of the last request sent
	calls  []*call     // oldest first; the first is in flight if sent
	sent   bool
	closed bool
	timer  node.TimerID // of the attempt, the back-off or the first call's deadline; 0: none
}

// call is one request and what to do with its answer.
type call struct {
	request  kmsg.Request
	deadline time.Duration // node clock; 0: never
	done     func(kmsg.Response)
}

const (
	// controllerSocketTimeout is controller.socket.timeout.ms.
	controllerSocketTimeout = 30 * time.Second
	// channelBackoff is the pause before a failed request is sent again.
	channelBackoff = 50 * time.Millisecond
)

func newChannel(env node.Env, timers *node.Timers, clientID string, attempt, patience time.Duration) *channel {
	return &channel{env: env, timers: timers, clientID: clientID, attempt: attempt, patience: patience}
}

// send queues req; done runs once, with the answer, or with nil when it was
// given up.
func (c *channel) send(req kmsg.Request, done func(kmsg.Response)) {
	if c.closed {
		return
	}
	w := &call{request: req, done: done}
	if c.patience > 0 {
		w.deadline = c.env.Now() + c.patience
	}
	c.calls = append(c.calls, w)
	if len(c.calls) == 1 {
		c.pump()
	}
}

// setController tells where the active controller is now.
func (c *channel) setController(addr string) {
	c.addr = addr
	if !c.sent {
		c.pump()
	}
}

// pump sends the first call, if there is one and somebody to send it to.
func (c *channel) pump() {
	c.stopTimer()
	c.giveUp()
	if len(c.calls) == 0 || c.sent {
		return
	}
	first := c.calls[0]
	if c.addr == "" {
		if first.deadline > 0 {
			c.timer = c.timers.After(first.deadline-c.env.Now(), c.fired(c.pump))
		}
		return
	}
	if c.conn != 0 && c.dialed != c.addr {
		c.hangUp()
	}
	if c.conn == 0 {
		c.conn, c.dialed = c.env.Dial(c.addr), c.addr
	}
	c.last++
	c.sent = true
	c.env.Send(c.conn, &node.Message{CorrelationID: c.last, ClientID: c.clientID, Request: first.request})
	c.timer = c.timers.After(c.attempt, c.fired(func() {
		c.hangUp()
		c.pump()
	}))
}

// giveUp ends the calls at the head whose time is over.
func (c *channel) giveUp() {
	for !c.sent && len(c.calls) > 0 && c.calls[0].deadline > 0 && c.calls[0].deadline <= c.env.Now() {
		c.finish(nil)
	}
}

// finish takes the first call off the queue before its continuation runs,
// which may send the next one.
func (c *channel) finish(answer kmsg.Response) {
	first := c.calls[0]
	c.calls = c.calls[1:]
	first.done(answer)
}

// receive takes a response on the channel's connection.
func (c *channel) receive(m *node.Message) {
	if !c.sent || m.CorrelationID != c.last {
		return
	}
	c.stopTimer()
	c.sent = false
	if answersNotController(m.Response) {
		c.backOff()
		return
	}
	c.finish(m.Response)
	if !c.sent {
		c.pump()
	}
}

// disconnected reports that the connection is gone.
func (c *channel) disconnected() {
	c.conn, c.sent = 0, false
	c.backOff()
}

func (c *channel) backOff() {
	c.stopTimer()
	if len(c.calls) > 0 {
		c.timer = c.timers.After(channelBackoff, c.fired(c.pump))
	}
}

// hangUp closes the connection and forgets the request in flight.
func (c *channel) hangUp() {
	if c.conn != 0 {
		c.env.Close(c.conn)
	}
	c.conn, c.sent = 0, false
}

// close drops everything, also what is sent later: no continuation runs
// afterwards.
func (c *channel) close() {
	c.closed = true
	c.stopTimer()
	c.hangUp()
	c.calls = nil
}

func (c *channel) stopTimer() {
	c.timers.Cancel(c.timer)
	c.timer = 0
}

// fired forgets the timer before it acts.
func (c *channel) fired(f func()) func() {
	return func() {
		c.timer = 0
		f()
	}
}

// answersNotController reports whether an answer comes from a node that is not
// the active controller (any more).
func answersNotController(r kmsg.Response) bool {
	is := func(code int16) bool { return kafka.ErrorCode(code) == kafka.NotController }
	switch r := r.(type) {
	case *kmsg.BrokerRegistrationResponse:
		return is(r.ErrorCode)
	case *kmsg.BrokerHeartbeatResponse:
		return is(r.ErrorCode)
	case *kmsg.EnvelopeResponse:
		return is(r.ErrorCode)
	case *kmsg.AllocateProducerIDsResponse:
		return is(r.ErrorCode)
	case *kmsg.AssignReplicasToDirsResponse:
		return is(r.ErrorCode)
	case *kmsg.AlterPartitionResponse:
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				if is(p.ErrorCode) {
					return true
				}
			}
		}
		return is(r.ErrorCode)
	}
	return false
}
