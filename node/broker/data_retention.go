package broker

import (
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// startRetention plans the slow tasks of Kafka's LogManager for the lane's logs,
// the first of each log.initial.task.delay.ms after the start.
func (d *dataLane) startRetention() {
	props := d.cfg.Properties
	d.every(props.Millis(kafka.LogRetentionCheckMs), d.deleteOldSegments)
	d.every(props.Millis(kafka.LogFlushSchedulerMs), func() {
		for _, tp := range d.order {
			d.hosted[tp].log.FlushIfDue(d.env.Wall())
		}
	})
}

// longest is the interval of a task that never runs.
const longest = time.Duration(1<<63 - 1)

// every runs a task after the initial delay and then once per interval.
func (d *dataLane) every(interval time.Duration, task func()) {
	if interval == longest {
		return
	}
	var run func()
	run = func() {
		if !d.closed {
			task()
		}
		d.timers.After(max(interval, time.Millisecond), run)
	}
	d.timers.After(d.cfg.Properties.Millis(kafka.LogInitialDelayMs), run)
}

// deleteOldSegments applies retention.ms, retention.bytes and the log starts.
// Compacted logs are the cleaner's, which does the same after each round.
func (d *dataLane) deleteOldSegments() {
	for _, tp := range d.order {
		if h := d.hosted[tp]; !h.log.Config().Compacted {
			before := h.log.LogStart()
			if _, err := h.log.DeleteOldSegments(d.env.Wall()); err != nil {
				d.failed(h.dir, tp, err)
				continue
			}
			d.traceLogStart(tp, before, "retention")
		}
	}
}

// traceLogStart tells that a leader's log begins later than before; followers
// learn it with their next fetch.
func (d *dataLane) traceLogStart(tp kafka.TopicPartition, before kafka.Offset, why string) {
	h := d.hosted[tp]
	if start := h.log.LogStart(); start > before && h.partition.IsLeader() {
		e := event.New(event.LogStartMoved)
		e.Topic, e.Partition, e.Offset, e.Text = tp.Topic, tp.Partition, start, why
		d.env.Emit(&e)
		d.purgatory.Changed(tp)
	}
}
