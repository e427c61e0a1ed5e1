package replica

import "tidemark/model/kafka"

// DeleteToHighWatermark asks DeleteRecords for everything that is committed.
const DeleteToHighWatermark kafka.Offset = -1

// DeleteRecords raises the leader's log start to o (KIP-107): what is below is
// gone for every reader at once; the files follow by retention, the followers by
// their next fetch. required is the offset that the partition's low watermark must
// reach before the request is done. POLICY_VIOLATION: cleanup.policy has no delete;
// OFFSET_OUT_OF_RANGE: o is neither DeleteToHighWatermark nor from 0 to the high
// watermark.
func (p *Partition) DeleteRecords(o kafka.Offset) (required kafka.Offset, code kafka.ErrorCode) {
	if code := p.checkAccess(kafka.NoEpoch, true); code != kafka.None {
		return kafka.NoOffset, code
	}
	if !p.log.Config().Delete {
		return kafka.NoOffset, kafka.PolicyViolation
	}
	if o == DeleteToHighWatermark {
		o = p.highWatermark
	}
	if o < 0 || o > p.highWatermark {
		return kafka.NoOffset, kafka.OffsetOutOfRange
	}
	if err := p.log.RaiseLogStart(o); err != nil {
		return kafka.NoOffset, p.storageFailed(err)
	}
	return o, kafka.None
}

// LowWatermark is the least log start among the replicas that are alive, as their
// last fetches told the leader: below it nobody serves a record.
func (p *Partition) LowWatermark() kafka.Offset {
	low := p.log.LogStart()
	for i := range p.remotes {
		r := &p.remotes[i]
		if b, ok := p.host.Broker(r.broker); ok && !b.Fenced {
			low = min(low, r.logStart)
		}
	}
	return low
}
