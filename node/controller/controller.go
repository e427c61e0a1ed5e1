package controller

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
	"tidemark/node/quorum"
)

// Config is what a controller knows before it starts.
type Config struct {
	ID        kafka.BrokerID
	ClusterID kafka.UUID
	// Static are the node's own properties, in broker scope.
	Static kafka.Config
	// Features are the levels that a new metadata log starts with, in order;
	// nil stands for DefaultFeatures.
	Features []metadata.FeatureLevel
}

// Controller is one controller node, active or standing by. All its methods
// are called from one lane.
type Controller struct {
	cfg    Config
	env    node.Env
	timers *node.Timers
	quorum Quorum

	active bool
	image  *metadata.Image // with everything appended, committed or not
	stable *metadata.Image // with everything committed
	// waiting are the operations whose records, or whose view of the image, are
	// not committed yet; by ascending offset.
	waiting []deferred

	alive     liveness
	periodic  []node.TimerID // one per task
	balancing node.TimerID   // of the planned pass of preferred elections; 0: none
}

// deferred is an operation that waits for the commit of offset.
type deferred struct {
	offset kafka.Offset
	image  *metadata.Image // after the operation's records
	events []event.Event
	done   func(kafka.ErrorCode)
}

// New returns a controller that stands by until HandleLeaderChange.
func New(cfg Config, env node.Env, timers *node.Timers, q Quorum) *Controller {
	if cfg.Features == nil {
		cfg.Features = DefaultFeatures()
	}
	return &Controller{cfg: cfg, env: env, timers: timers, quorum: q, image: metadata.Empty(), stable: metadata.Empty()}
}

// Image is the cluster as this controller sees it, with what is not committed.
func (c *Controller) Image() *metadata.Image { return c.image }

// Active reports whether this is the controller of the cluster.
func (c *Controller) Active() bool { return c.active }

// HandleCommit takes the next committed batch. A standby replays it; the active
// controller did so when it wrote it, and answers what waited for it.
func (c *Controller) HandleCommit(b quorum.Committed) {
	if !c.active {
		c.image = b.Replay(c.image)
		c.stable = c.image
		return
	}
	for len(c.waiting) > 0 && c.waiting[0].offset <= b.Last {
		d := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.stable = d.image
		for i := range d.events {
			c.env.Emit(&d.events[i])
		}
		d.done(kafka.None)
	}
}

// HandleLeaderChange tells who leads in epoch; NoBroker: nobody known. A node
// hears of its own leadership once it has every record before it.
func (c *Controller) HandleLeaderChange(leader kafka.BrokerID, _ kafka.LeaderEpoch) {
	if c.active {
		c.resign()
	}
	if leader == c.cfg.ID {
		c.claim()
	}
}

// claim begins a term. What only an active controller knows starts afresh.
func (c *Controller) claim() {
	c.active = true
	c.alive = newLiveness(c.cfg.Static.Millis(kafka.BrokerSessionTimeoutMs))
	for _, b := range c.image.Brokers() {
		if !b.Fenced {
			c.alive.touch(b.ID, b.Epoch, c.env.Now())
		}
	}
	c.bootstrap()
	c.startPeriodicTasks()
}

// resign ends a term: answers that wait fail, their outcome unknown, and what
// was replayed ahead of the commits is forgotten (KAFKA-13114, K9).
func (c *Controller) resign() {
	c.active = false
	c.image = c.stable
	waiting := c.waiting
	c.waiting = nil
	for _, id := range c.periodic {
		c.timers.Cancel(id)
	}
	c.timers.Cancel(c.balancing)
	c.periodic, c.balancing = nil, 0
	for _, d := range waiting {
		d.done(kafka.NotController)
	}
}

// result is what an operation wants written.
type result struct {
	records []metadata.Record
	// atomic: the records take effect all or none, so one batch must hold them.
	atomic bool
	// hows tell for partition changes among the records how a leader came to lead.
	hows []how
}

type how struct {
	tp   kafka.TopicPartition
	text string
}

// change adds a partition change.
func (r *result) change(tp kafka.TopicPartition, rec metadata.PartitionChange, text string) {
	r.records = append(r.records, rec)
	if text != "" {
		r.hows = append(r.hows, how{tp, text})
	}
}

// write replays the records of an operation into the image, appends them and
// runs done when they are committed, or with NOT_CONTROLLER when leadership is
// lost before. An operation without records may have read what is not
// committed, so it waits for that.
//
// More records than a batch may hold go into several, and a controller that
// takes over may find only the first of them: it sees a cluster half-way, such as
// a broker out of half its ISRs and not fenced yet, and carries on from there. An
// atomic operation of that size is refused with UNKNOWN_SERVER_ERROR and changes
// nothing. Kafka's controller answers that too, but resigns besides, which would
// only hand the same request to the next one.
func (c *Controller) write(r result, done func(kafka.ErrorCode)) {
	if len(r.records) == 0 {
		if len(c.waiting) == 0 {
			done(kafka.None)
			return
		}
		c.waiting = append(c.waiting, deferred{offset: c.quorum.NextOffset() - 1, image: c.image, done: done})
		return
	}
	if r.atomic && len(r.records) > MaxBatchRecords {
		done(kafka.UnknownServerError)
		return
	}
	rest := r.records
	for len(rest) > MaxBatchRecords {
		c.append(rest[:MaxBatchRecords], r.hows, func(kafka.ErrorCode) {})
		rest = rest[MaxBatchRecords:]
	}
	c.append(rest, r.hows, done)
}

// append replays and appends one batch. Each has an image of its own to go back
// to, since leadership may be lost when only the first of several is committed.
func (c *Controller) append(records []metadata.Record, hows []how, done func(kafka.ErrorCode)) {
	before, base := c.image, c.quorum.NextOffset()
	c.image = before.Replay(base, before.Epoch(), records)
	if got := c.quorum.Append(records); got != base {
		panic(fmt.Sprintf("records were replayed at offset %d and appended at %d", base, got))
	}
	delta := metadata.Diff(before, c.image)
	c.waiting = append(c.waiting, deferred{offset: c.image.Offset(), image: c.image, events: eventsOf(before, c.image, delta, hows), done: done})
	c.balanceLater(delta)
}
