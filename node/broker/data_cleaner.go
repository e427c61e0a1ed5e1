package broker

import (
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/storage"
)

// startCleaner runs the lane's share of Kafka's log cleaner: one pass at a time,
// in steps between which the lane serves what came.
func (d *dataLane) startCleaner() {
	props := d.cfg.Properties
	if !props.Bool(kafka.LogCleanerEnable) {
		return
	}
	d.cleaner = storage.NewCleaner(storage.CleanerConfigOf(props, d.cfg.DataLanes), d.cfg.Rules.Cleaner, cleanerHost{d})
	d.timers.After(props.Millis(kafka.LogCleanerBackoffMs), d.clean)
}

func (d *dataLane) clean() {
	if d.closed {
		return
	}
	if wait := d.cleaner.Step(d.env.Wall()); wait >= 0 {
		d.timers.After(time.Duration(wait)*time.Millisecond, d.clean)
	}
}

// cleanerHost is the lane as its cleaner sees it.
type cleanerHost struct{ d *dataLane }

// CleanerLogs lists the lane's logs by partition.
func (h cleanerHost) CleanerLogs() []*storage.Log {
	logs := make([]*storage.Log, 0, len(h.d.order))
	for _, tp := range h.d.order {
		logs = append(logs, h.d.hosted[tp].log)
	}
	return logs
}

// CheckpointRecoveryPoint has the logs lane write how far a log is durable.
func (h cleanerHost) CheckpointRecoveryPoint(_ *storage.Log, done func()) {
	h.d.saveRecoveryPoints(done)
}

// Cleaned tells of a pass, and has the logs lane write how far it came.
func (h cleanerHost) Cleaned(l *storage.Log, s storage.CleanerStats) {
	for _, tp := range h.d.order {
		if h.d.hosted[tp].log == l {
			e := event.New(event.Cleaned)
			e.Topic, e.Partition, e.Offset, e.End = tp.Topic, tp.Partition, s.FirstDirty, s.End
			h.d.env.Emit(&e)
		}
	}
	h.d.env.Post(node.Logs, cleanedPost{})
}

// CleanerWake goes on with a pass that waited for the disk.
func (h cleanerHost) CleanerWake() { h.d.timers.After(0, h.d.clean) }
