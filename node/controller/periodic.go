package controller

import (
	"time"

	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

// sessionChecks is how often within one session time-out the active controller
// looks for brokers that are silent.
const sessionChecks = 8

// startPeriodicTasks plans what an active controller does without being asked.
func (c *Controller) startPeriodicTasks() {
	static := c.cfg.Static
	c.every(static.Millis(kafka.BrokerSessionTimeoutMs)/sessionChecks, c.fenceOneStaleBroker)
	if idle := static.Millis(kafka.MetadataMaxIdleMs); idle > 0 {
		c.every(idle, func() bool {
			c.write(result{records: []metadata.Record{metadata.NoOp{}}}, func(kafka.ErrorCode) {})
			return false
		})
	}
	c.every(static.Millis(kafka.UncleanElectionIntervalMs), c.electUncleanLeaders)
	c.balanceLater(metadata.Diff(metadata.Empty(), c.image))
}

// every runs a task again and again while the term lasts: after d, or at once
// as an event of its own when the task says that there is more to do.
func (c *Controller) every(d time.Duration, task func() (more bool)) {
	slot := len(c.periodic)
	c.periodic = append(c.periodic, 0)
	var run func()
	run = func() {
		next := d
		if task() {
			next = 0
		}
		c.periodic[slot] = c.timers.After(next, run)
	}
	c.periodic[slot] = c.timers.After(d, run)
}
