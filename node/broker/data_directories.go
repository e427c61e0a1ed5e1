package broker

import (
	"errors"
	"slices"
	"strings"

	"tidemark/model/kafka"
	"tidemark/node"
	"tidemark/node/metadata"
)

// errDirectoryOffline ends what goes on in a log whose directory failed.
var errDirectoryOffline = errors.New("the log directory is offline")

// listDirectories notes, before the lane's first image is applied, which replicas
// lie in which log directory: their logs are recovered, other ones are new.
func (d *dataLane) listDirectories() {
	if d.found != nil {
		return
	}
	d.found = map[kafka.TopicPartition]int{}
	for i := range d.load.Dirs {
		if d.offlineAt(i) {
			continue
		}
		names, err := d.fs.List(d.load.Dirs[i].Path)
		if err != nil {
			d.failed(i, kafka.TopicPartition{}, err)
		}
		for _, name := range names {
			dir, isDir := strings.CutSuffix(name, "/")
			if tp, err := kafka.ParseTopicPartition(dir); isDir && err == nil && d.owns(tp) {
				d.found[tp] = i
			}
		}
	}
}

// offlineAt reports whether a log directory is out of use.
func (d *dataLane) offlineAt(i int) bool { return d.offline[i] || d.load.Dirs[i].Failed }

// place gives the log directory of a replica: where it lies, else where the
// controller thinks, else the one where this lane has the fewest. Kafka counts a
// broker's replicas; lanes do not know each other's, so among equals a topic's
// partitions go round the directories. It is -1 for a replica that is in none while a directory
// is offline: it may lie there, and a second, empty one must not take its place.
func (d *dataLane) place(p metadata.PartitionDelta) (dir int, old bool) {
	if i, found := d.found[p.TP]; found && !d.offlineAt(i) {
		return i, true
	}
	assigned := p.After.Directory(d.cfg.ID)
	best, down := -1, false
	for n := range d.load.Dirs {
		i := (int(p.TP.Partition) + n) % len(d.load.Dirs)
		switch {
		case d.offlineAt(i):
			down = true
		case d.load.Dirs[i].ID == assigned:
			return i, false
		case best < 0 || d.held(i) < d.held(best):
			best = i
		}
	}
	if down && assigned != metadata.UnassignedDirectory {
		return -1, false
	}
	return best, false
}

// held counts the lane's replicas in a log directory.
func (d *dataLane) held(dir int) (n int) {
	for _, tp := range d.order {
		if d.hosted[tp].dir == dir {
			n++
		}
	}
	return n
}

// tellPlace has the controller told where a replica lies if it thinks otherwise.
func (d *dataLane) tellPlace(p metadata.PartitionDelta, dir kafka.UUID) {
	if p.After.Directory(d.cfg.ID) != dir {
		d.env.Post(node.Lifecycle, assignPost{TopicID: p.TopicID, Partition: p.TP.Partition, Directory: dir})
	}
}

// StorageFailed takes the log directory of a replica offline. The request at
// hand is still answered with KAFKA_STORAGE_ERROR.
func (d *dataLane) StorageFailed(tp kafka.TopicPartition, err error) {
	if h := d.hosted[tp]; h != nil {
		d.failed(h.dir, tp, err)
	}
}

// failed notes an error of a log directory's disk. Nothing on it can be trusted
// to have been written any more, so no replica there goes on (KAFKA-10778).
func (d *dataLane) failed(dir int, tp kafka.TopicPartition, err error) {
	if d.offline[dir] {
		return
	}
	storageFailed(d.env, tp, err)
	d.env.Post(node.Logs, failedPost{Dir: dir, Reason: err.Error()})
	d.directoryFailed(dir)
}

func (d *dataLane) directoryFailed(dir int) {
	if !d.offline[dir] {
		d.offline[dir] = true
		d.failing = append(d.failing, dir)
	}
}

// dropFailing ends the service of what lies in directories that failed, at the
// end of the callback: who met the error may still be in the middle of a replica.
func (d *dataLane) dropFailing() {
	for _, dir := range d.failing {
		for _, tp := range slices.Clone(d.order) {
			if h := d.hosted[tp]; h.dir == dir {
				d.dropOffline(tp, h)
			}
		}
	}
	d.failing = nil
}

func (d *dataLane) dropOffline(tp kafka.TopicPartition, h *hosted) {
	if h.log.Failed() == nil { // else the trace has it
		storageFailed(d.env, tp, errDirectoryOffline)
	}
	d.lost[tp] = true
	d.unfollow(tp)
	d.unhost(tp)
	h.log.TakeOffline(errDirectoryOffline)
	d.purgatory.Changed(tp)
}
