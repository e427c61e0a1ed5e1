package replica

import (
	"errors"
	"fmt"

	"tidemark/model/kafka"
	"tidemark/model/rules"
	"tidemark/node/storage"
)

// BecomeFollower applies metadata that names another leader, or none. It reports
// whether a new leader epoch began: then the caller stops fetching for the
// partition and, if there is a leader, adds it to that leader's Fetcher, even if
// it is the same leader as before.
//
// The high watermark is kept. It may be below the true one, never above.
func (p *Partition) BecomeFollower(s State) (newEpoch bool) {
	if p.stale(s) {
		return false
	}
	newEpoch = s.LeaderEpoch > p.leaderEpoch
	p.leader, p.leaderEpoch, p.partitionEpoch = s.Leader, s.LeaderEpoch, s.PartitionEpoch
	p.epochStart = kafka.NoOffset
	p.remotes = nil
	p.isr = isrState{}
	if newEpoch {
		p.traceBecameFollower()
	}
	p.host.Changed(p.tp) // what waits for us as leader waits in vain
	return newEpoch
}

// startFollowing brings the log to where fetching begins.
func (p *Partition) startFollowing() error {
	end := p.log.LogEnd()
	start := p.rules.StartFollowing(rules.FollowerLog{LogStart: p.log.LogStart(), HighWatermark: p.highWatermark,
		LogEnd: end, LastEpoch: p.log.LastEpoch()})
	if start >= end {
		return nil
	}
	return p.truncateTo(start, "to-hw")
}

// appendAsFollower appends what the leader sent in answer to a fetch in leader
// epoch current. Batches of a later epoch are left out: what the leader became
// since may have cut this log's place in the answer (KAFKA-18723). What is in the
// result was appended even if there is an error.
func (p *Partition) appendAsFollower(records []byte, current kafka.LeaderEpoch) (storage.Appended, error) {
	appended, err := p.log.AppendAsFollower(records, current)
	var unexpected *storage.UnexpectedOffsetError
	if errors.As(err, &unexpected) && p.startsInside(unexpected) {
		// DeleteRecords moved the leader's log start into the middle of a batch,
		// and batches come whole: begin where the batch begins (KAFKA-6975).
		if err := p.truncateFullyAndStartAt(unexpected.First); err != nil {
			return storage.Appended{}, err
		}
		appended, err = p.log.AppendAsFollower(records, current)
	}
	p.traceAppended(appended.Batches)
	if len(appended.Batches) > 0 {
		p.host.Changed(p.tp)
	}
	if p.log.Failed() != nil {
		p.storageFailed(err)
	}
	return appended, err
}

// startsInside reports whether the log is empty and starts within the batch that
// was refused.
func (p *Partition) startsInside(u *storage.UnexpectedOffsetError) bool {
	end := p.log.LogEnd()
	return end == p.log.LogStart() && u.First < end && end <= u.Last
}

// followLogStart takes the leader's log start, which retention or DeleteRecords
// may have moved.
func (p *Partition) followLogStart(leader kafka.Offset) error {
	if leader <= p.log.LogStart() {
		return nil
	}
	if leader > p.highWatermark {
		return fmt.Errorf("leader's log start %d is above the high watermark %d", leader, p.highWatermark)
	}
	if err := p.log.RaiseLogStart(leader); err != nil {
		p.storageFailed(err)
		return err
	}
	return nil
}
