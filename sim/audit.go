package sim

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"tidemark/disk/faultdisk"
	"tidemark/disk/simdisk"
	"tidemark/model/event"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

const (
	logSuffix = ".log"
	// attemptHeader is the record header in which clients put an attempt's id, 8
	// bytes big-endian.
	attemptHeader = "attempt"
)

// replicaKey names one replica.
type replicaKey struct {
	node kafka.BrokerID
	tp   kafka.TopicPartition
}

// claim remembers what high watermark a node last said it knows. A dead node
// claims nothing.
func (w *World) claim(e *event.Event) {
	switch e.Kind {
	case event.HighWatermarkMoved, event.BecameLeader, event.BecameFollower:
		w.claims[replicaKey{e.Node, e.TP()}] = e.HighWatermark
	case event.Died:
		w.disown(e.Node)
	case event.StorageFailed:
		delete(w.claims, replicaKey{e.Node, e.TP()})
	case event.Truncated:
		k := replicaKey{e.Node, e.TP()}
		if hw, ok := w.claims[k]; ok {
			w.claims[k] = min(hw, e.End)
		}
	}
}

func (w *World) disown(n kafka.BrokerID) {
	for k := range w.claims { // unordered: deletes only
		if k.node == n {
			delete(w.claims, k)
		}
	}
}

// Audit reads every replica of the partitions from its segments, by the page
// cache and with model/record alone, and writes what it finds into the trace: a
// record each, then the replica. Nodes are not asked. Without partitions it
// audits every one but the metadata log.
func (w *World) Audit(partitions ...kafka.TopicPartition) {
	for _, m := range w.machines {
		if m.disk == nil {
			continue
		}
		for _, r := range replicas(m.disk) {
			if len(partitions) > 0 && !slices.Contains(partitions, r.tp) {
				continue
			}
			w.auditReplica(m, r)
		}
	}
}

// replica is a log directory and its segments, in order of base offset.
type replica struct {
	tp       kafka.TopicPartition
	segments []string
}

// replicas finds the replicas' directories of a disk, in the root or in a log
// directory, in order of path. A directory whose name is no partition (a stray
// one, a deleted one) is none.
func replicas(d *simdisk.Disk) []replica {
	var found []replica
	for _, path := range d.Paths(faultdisk.Cached) {
		cut := strings.LastIndexByte(path, '/') // a directory's path ends with one
		dir, name := path[:max(cut, 0)], path[cut+1:]
		tp, err := kafka.ParseTopicPartition(dir[strings.LastIndexByte(dir, '/')+1:])
		if err != nil || tp.Topic == kafka.MetadataTopic {
			continue
		}
		if n := len(found); n == 0 || found[n-1].tp != tp {
			found = append(found, replica{tp: tp})
		}
		if strings.HasSuffix(name, logSuffix) {
			r := &found[len(found)-1]
			r.segments = append(r.segments, path)
		}
	}
	return found
}

func (w *World) auditReplica(m *machine, r replica) {
	found := event.New(event.AuditReplica)
	found.Node, found.Topic, found.Partition = m.cfg.ID, r.tp.Topic, r.tp.Partition
	found.Text = "dead"
	if m.alive {
		found.Text = "live"
		if hw, ok := w.claims[replicaKey{m.cfg.ID, r.tp}]; ok {
			found.HighWatermark = hw
		}
	}
	for _, path := range r.segments {
		err := readSegment(m.disk, faultdisk.Cached, path, func(b record.Batch) {
			if found.Offset == kafka.NoOffset {
				found.Offset = b.BaseOffset()
			}
			found.End = b.NextOffset()
			w.auditBatch(m, r.tp, b)
		})
		if err != nil {
			found.Text += fmt.Sprintf(", %s: %v", path, err)
			break
		}
	}
	w.trace(&found)
}

func (w *World) auditBatch(m *machine, tp kafka.TopicPartition, b record.Batch) {
	if b.IsControl() {
		return
	}
	err := w.inflater.Each(b, func(r record.Record) error {
		e := event.New(event.AuditRecord)
		e.Node, e.Topic, e.Partition = m.cfg.ID, tp.Topic, tp.Partition
		e.Offset, e.Epoch = r.Offset, b.LeaderEpoch()
		e.Hash, e.Attempt = event.HashNullable(r.Value), attemptOf(r.Headers)
		w.trace(&e)
		return nil
	})
	if err != nil {
		e := event.New(event.Effect)
		e.Node, e.Text = m.cfg.ID, fmt.Sprintf("audit of %v at %d: %v", tp, b.BaseOffset(), err)
		w.trace(&e)
	}
}

func attemptOf(headers []record.Header) uint64 {
	for _, h := range headers {
		if h.Key == attemptHeader && len(h.Value) == 8 {
			return binary.BigEndian.Uint64(h.Value)
		}
	}
	return 0
}

// readSegment calls f for every whole batch with a valid checksum, up to the
// first that is none.
func readSegment(d *simdisk.Disk, side simdisk.Side, path string, f func(record.Batch)) error {
	rest, err := d.ReadFile(side, path)
	for err == nil && len(rest) > 0 {
		var b record.Batch
		if b, rest, err = record.Next(rest); err != nil {
			return err
		}
		if err = b.Check(); err == nil {
			f(b)
		}
	}
	return err
}
