package broker

import (
	"tidemark/model/kafka"
	"tidemark/node"
)

// checkpoint gives the logs lane the lane's lines of a checkpoint file.
func (d *dataLane) checkpoint(file checkpointFile) {
	if d.closed {
		return
	}
	d.env.Post(node.Logs, checkpointedPost{File: file, Offsets: d.offsets(file)})
}

// offsets are the lines of a checkpoint file, sorted by partition. A log start
// is only worth a line when the first segment's name does not tell it.
func (d *dataLane) offsets(file checkpointFile) []partitionOffset {
	var offsets []partitionOffset
	for _, tp := range d.order {
		h := d.hosted[tp]
		switch file {
		case recoveryPoints:
			offsets = append(offsets, partitionOffset{h.dir, tp, h.log.RecoveryPoint()})
		case highWatermarks:
			offsets = append(offsets, partitionOffset{h.dir, tp, h.partition.HighWatermark()})
		case logStarts:
			if h.log.StartUnnamed() {
				offsets = append(offsets, partitionOffset{h.dir, tp, h.log.LogStart()})
			}
		case cleanedOffsets:
			if cleaned := h.log.CleanedUpTo(); cleaned != kafka.NoOffset {
				offsets = append(offsets, partitionOffset{h.dir, tp, cleaned})
			}
		}
	}
	return offsets
}

// close ends the lane's service: fetchers hang up, then every log is flushed and
// closed. The offsets are taken before: flushing moves the recovery points to
// the log ends, and nothing else moves any more, since requests that still come
// find no replica.
func (d *dataLane) close() {
	d.closed = true
	for _, k := range d.links {
		d.hangUp(k)
	}
	d.links = nil
	if d.load == nil || d.image == nil {
		d.env.Post(node.Logs, closedPost{})
		return
	}
	post := closedPost{Loaded: true, LogStarts: d.offsets(logStarts), HighWatermarks: d.offsets(highWatermarks)}
	left := len(d.order) + 1
	stopped := func() {
		if left--; left == 0 {
			d.env.Post(node.Logs, post)
		}
	}
	for _, tp := range d.order {
		h := d.hosted[tp]
		post.RecoveryPoints = append(post.RecoveryPoints, partitionOffset{h.dir, tp, h.log.LogEnd()})
		h.log.Stop(func(err error) {
			if err != nil {
				d.failed(h.dir, tp, err)
			}
			stopped()
		})
	}
	clear(d.hosted)
	d.order = nil
	stopped()
}
