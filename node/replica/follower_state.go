package replica

import "tidemark/model/kafka"

// updateFollowerState learns from a follower's valid fetch, served while the log
// ended at leaderEnd: first the follower's state, then whether it may join the
// ISR, then whether that moves the high watermark. Only the first of these can
// refuse.
func (p *Partition) updateFollowerState(r FetchRequest, leaderEnd kafka.Offset) kafka.ErrorCode {
	if p.fromPastLife(r) {
		p.traceEffect("fetch of a past broker epoch")
		return kafka.NotLeaderOrFollower
	}
	follower := p.remote(r.Replica)
	before, start := follower.logEnd, follower.logStart
	follower.fetchedAt(p.host.Now(), r.FetchOffset, r.LogStart, leaderEnd, r.BrokerEpoch)
	p.maybeExpandISR(follower)
	if follower.logEnd != before {
		p.maybeIncrementHighWatermark()
	}
	if follower.logStart > start {
		p.host.Changed(p.tp) // DeleteRecords waits for it
	}
	return kafka.None
}

// fromPastLife reports whether a fetch was sent by a process life of the
// follower that a newer one has replaced: what that one had on its disk says
// nothing about now (KIP-903).
func (p *Partition) fromPastLife(r FetchRequest) bool {
	b, registered := p.host.Broker(r.Replica)
	return r.BrokerEpoch != kafka.NoBrokerEpoch && registered && !b.Fenced && r.BrokerEpoch < b.Epoch
}
