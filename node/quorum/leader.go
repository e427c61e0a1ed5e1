package quorum

import (
	"fmt"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
	"tidemark/node/metadata"
)

// maxBatchBytes bounds one batch of the metadata log.
const maxBatchBytes = 8 << 20

// leaderState is what a leader keeps of its epoch.
type leaderState struct {
	epochStart kafka.Offset // of the LeaderChange record
	announced  bool         // the listener knows that this node leads
	next       kafka.Offset // of the next record that is appended
	pending    []metadata.Record
	pendingLen int // bytes of the batch that pending would make, about
	linger     node.TimerID
	unread     []Committed // appended, not delivered yet
	synced     kafka.Offset
	syncing    bool
}

// beginEpoch appends the record that opens a leader's epoch. What older epochs
// left is committed together with it, never before (K4).
func (r *Raft) beginEpoch() {
	r.leader = leaderState{epochStart: r.log.LogEnd(), synced: r.log.LogStart()}
	if err := r.log.AssignEpoch(r.state.epoch, r.leader.epochStart); err != nil {
		r.fail(err)
		return
	}
	r.leader.next = r.leader.epochStart + 1
	self := []record.Voter{{ID: r.cfg.ID}}
	change := record.LeaderChange{Leader: r.cfg.ID, Voters: self, Granting: self}
	r.appendBatch(change.Batch(r.leader.epochStart, r.state.epoch, r.env.Wall()), nil)
}

// NextOffset is the offset that the next record of Append gets.
func (r *Raft) NextOffset() kafka.Offset { return r.leader.next }

// Append adds records that take effect together, and returns the offset of the
// first. They linger for a moment, so that several decisions share one fsync.
func (r *Raft) Append(recs []metadata.Record) kafka.Offset {
	if r.role != roleLeader {
		panic("append to the metadata log by a node that does not lead")
	}
	size := 0
	for _, rec := range recs {
		size += len(metadata.Append(nil, rec)) + record.Overhead
	}
	if r.leader.pendingLen+size > maxBatchBytes {
		r.drain()
	}
	if len(r.leader.pending) == 0 {
		r.leader.linger = r.timers.After(r.cfg.Linger, r.drain)
	}
	base := r.leader.next
	r.leader.next += kafka.Offset(len(recs))
	r.leader.pending = append(r.leader.pending, recs...)
	r.leader.pendingLen += size
	return base
}

// drain writes what lingers as one batch.
func (r *Raft) drain() {
	recs := r.leader.pending
	if len(recs) == 0 {
		return
	}
	r.timers.Cancel(r.leader.linger)
	r.leader.pending, r.leader.pendingLen = nil, 0
	o := record.NoProducer()
	o.BaseOffset, o.LeaderEpoch = r.log.LogEnd(), r.state.epoch
	w := record.NewBuilder(o)
	var value []byte
	for _, rec := range recs {
		value = metadata.Append(value[:0], rec)
		w.Append(r.env.Wall(), nil, value, nil)
	}
	r.appendBatch(w.Build(), recs)
}

func (r *Raft) appendBatch(b record.Batch, recs []metadata.Record) {
	if _, err := r.log.AppendAsRaftLeader(b, r.state.epoch); err != nil {
		r.fail(err)
		return
	}
	r.leader.unread = append(r.leader.unread, Committed{b.BaseOffset(), b.LastOffset(), r.state.epoch, recs})
	r.sync()
}

// sync makes the log durable up to its present end; one fsync runs at a time,
// and the next takes along all that came meanwhile.
func (r *Raft) sync() {
	if r.leader.syncing {
		return
	}
	r.leader.syncing = true
	end := r.log.LogEnd()
	r.log.Flush(func(err error) {
		if err != nil {
			r.fail(err)
			return
		}
		r.leader.syncing = false
		r.synced(end)
	})
}

// synced moves the high watermark of a quorum of one: what its disk holds is
// committed, once that includes a record of its own epoch.
func (r *Raft) synced(end kafka.Offset) {
	if r.role != roleLeader {
		return
	}
	r.leader.synced = end
	if r.log.LogEnd() > end {
		r.sync()
	}
	if end > r.leader.epochStart {
		r.advance(end)
	}
	r.answerParked()
}

// advance raises the high watermark and gives the listener what it exposes.
func (r *Raft) advance(to kafka.Offset) {
	if to <= r.highWatermark {
		return
	}
	r.highWatermark = to
	if err := r.deliver(); err != nil {
		r.fail(err)
		return
	}
	if r.role == roleLeader && !r.leader.announced && r.delivered > r.leader.epochStart {
		r.leader.announced = true
		r.listener.HandleLeaderChange(r.cfg.ID, r.state.epoch)
	}
}

// fail ends the process: a metadata log that cannot be written or read leaves
// nothing to serve.
func (r *Raft) fail(err error) { r.env.Exit(fmt.Sprintf("metadata log: %v", err)) }
