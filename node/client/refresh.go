package client

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// rebootstrapRequired is REBOOTSTRAP_REQUIRED: the broker tells the client to
// begin again at its bootstrap addresses (KIP-1102).
const rebootstrapRequired = 129

// refresh is when metadata is asked for. There is one request at a time, and
// the pause before the next grows while answers fail or tell nothing new.
// Finding a connection for it is no part of that pause: a node that refuses is
// passed over at once, as long as there is another.
type refresh struct {
	need       bool          // somebody wants news
	attempting bool          // since started, no answer came
	asking     bool          // a request is on its way
	vain       int           // requests in a row that failed or told nothing new
	notBefore  time.Duration // end of the pause after the last request
	succeeded  time.Duration // last answer
	started    time.Duration // when this attempt, or the last rebootstrap in it, began
	timer      node.TimerID  // 0: none runs
}

// RequestUpdate asks for new metadata as soon as the back-off permits.
func (c *Client) RequestUpdate() {
	if !c.need {
		c.need = true
		c.maintain()
	}
}

// broken looks for news after a connection broke, on another one.
func (c *Client) broken() {
	c.need = true
	c.maintain()
}

// maintain sends a metadata request if one is due, or begins to connect to a
// node for it; otherwise it sets the timer.
func (c *Client) maintain() {
	if c.closed || c.asking {
		return
	}
	c.timers.Cancel(c.refresh.timer)
	c.refresh.timer = 0
	now := c.env.Now()
	if wait := c.refreshDue() - now; wait > 0 {
		c.maintainAfter(wait)
		return
	}
	if !c.attempting {
		c.attempting, c.started = true, now
	} else if now-c.started >= c.cfg.RebootstrapTrigger {
		c.rebootstrap()
	}
	to, ok := c.leastLoaded()
	if !ok {
		c.rebootstrap() // every node that is known just failed (KIP-899)
		if to, ok = c.leastLoaded(); !ok {
			c.maintainAfter(c.bootstrapRetryAt() - now)
			return
		}
	}
	if c.net.Connected(to) {
		c.ask(to)
		return
	}
	c.net.Ready(to) // onReady or onBroken follows
}

// rebootstrap forgets the brokers that answers named, so that the bootstrap
// addresses are all that is left (KIP-1102).
func (c *Client) rebootstrap() {
	c.md.clear()
	c.started = c.env.Now()
}

func (c *Client) maintainAfter(d time.Duration) {
	c.refresh.timer = c.timers.After(d, func() {
		c.refresh.timer = 0
		c.maintain()
	})
}

// refreshDue is the instant of the next metadata request.
func (c *Client) refreshDue() time.Duration {
	if !c.need {
		return c.succeeded + c.cfg.MetadataMaxAge
	}
	return c.notBefore
}

func (c *Client) ask(to kafka.BrokerID) {
	req := kmsg.NewPtrMetadataRequest()
	c.forgetIdle()
	req.Topics = []kmsg.MetadataRequestTopic{}
	for i := range c.wanted {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(c.wanted[i].name)
		req.Topics = append(req.Topics, t)
	}
	req.AllowAutoTopicCreation = false
	c.asking, c.need = true, false
	c.send(to, call{Request: req, Done: func(r kmsg.Response, code kafka.ErrorCode) {
		c.asking = false
		c.told(answerOf[*kmsg.MetadataResponse](r), code)
		c.maintain()
	}})
}

// told takes the end of a metadata request in. An answer without brokers comes
// from a broker that knows no more than the client does.
func (c *Client) told(r *kmsg.MetadataResponse, code kafka.ErrorCode) {
	now := c.env.Now()
	ok := code == kafka.None && r.ErrorCode == 0 && len(r.Brokers) > 0
	changed := false
	if ok {
		var again bool
		changed, again = c.md.update(r)
		for _, b := range c.md.brokers {
			c.net.SetAddr(b.ID, b.Addr)
		}
		c.need = c.need || again
		c.succeeded, c.attempting = now, false
	} else {
		c.need = true
		if code == kafka.None && r.ErrorCode == rebootstrapRequired {
			c.rebootstrap()
		}
	}
	c.vain++
	if changed {
		c.vain = 0
	}
	c.notBefore = now + c.cfg.Retry.After(c.vain, c.env, "metadata-backoff")
}

// forgetIdle drops the topics that nobody wanted for too long.
func (c *Client) forgetIdle() {
	if c.cfg.MetadataMaxIdle == 0 {
		return
	}
	kept := c.wanted[:0]
	for _, w := range c.wanted {
		if c.env.Now()-w.used < c.cfg.MetadataMaxIdle {
			kept = append(kept, w)
		} else {
			delete(c.md.topics, w.name)
		}
	}
	c.wanted = kept
}

// candidates are the nodes to ask: the brokers that metadata named, or the
// bootstrap addresses before there are any.
func (c *Client) candidates() []kafka.BrokerID {
	var ids []kafka.BrokerID
	for _, b := range c.md.brokers {
		ids = append(ids, b.ID)
	}
	if len(ids) == 0 {
		for i := range c.cfg.Bootstrap {
			ids = append(ids, bootstrapID(i))
		}
	}
	return ids
}

// leastLoaded picks a node for a request that any node can answer: one that is
// connected, with the fewest calls in flight; else one being connected; else
// one that may be, the longest not tried. Ties go by a random first place. False: every
// node is in its back-off.
func (c *Client) leastLoaded() (kafka.BrokerID, bool) {
	ids := c.candidates()
	first := int(c.env.Rand("least-loaded-node") % uint64(len(ids)))
	best, bestRank := kafka.NoBroker, rank{class: 3}
	for i := range ids {
		id := ids[(first+i)%len(ids)]
		if r := c.net.rank(id); r.less(bestRank) {
			best, bestRank = id, r
		}
	}
	return best, best != kafka.NoBroker
}

// rank orders nodes for leastLoaded, lowest first.
type rank struct {
	class int   // 0 connected, 1 connecting, 2 may be connected, 3 in back-off
	load  int64 // calls in flight, or the instant of the last attempt
}

func (r rank) less(o rank) bool {
	return r.class < o.class || r.class == o.class && r.class < 3 && r.load < o.load
}

func (n *network) rank(id kafka.BrokerID) rank {
	p := n.peers[id]
	switch {
	case p == nil || p.conn == 0 && n.env.Now() < p.retryAt:
		return rank{class: 3}
	case p.ready:
		return rank{0, int64(len(p.inflight))}
	case p.conn != 0:
		return rank{1, int64(len(p.inflight))}
	}
	return rank{2, int64(p.lastAttempt)}
}

func (c *Client) bootstrapRetryAt() time.Duration {
	at := c.net.RetryAt(bootstrapID(0))
	for i := range c.cfg.Bootstrap {
		at = min(at, c.net.RetryAt(bootstrapID(i)))
	}
	return at
}
