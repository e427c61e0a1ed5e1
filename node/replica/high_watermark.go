package replica

import (
	"time"

	"tidemark/model/kafka"
)

// maybeIncrementHighWatermark raises the leader's high watermark to the lowest
// log end offset among the replicas that must have a record before it counts as
// committed. It is tried whenever one of its inputs may have changed: after an
// append, a follower's progress, a change of leader, assignment or ISR
// (KAFKA-13091). It reports whether it moved; it never falls here.
//
// It stands still while the ISR is below min.insync.replicas, whatever acks the
// producers use: the controller may then elect a replica outside the ISR that
// lacks the newest records, so none of them may be shown (KIP-966, KAFKA-15583).
func (p *Partition) maybeIncrementHighWatermark() bool {
	if p.underMinISR() {
		return false
	}
	now := p.host.Now()
	candidate := p.log.LogEnd()
	for i := range p.remotes {
		if r := &p.remotes[i]; r.logEnd < candidate && p.mustHave(r, now) {
			candidate = r.logEnd
		}
	}
	if candidate <= p.highWatermark {
		return false
	}
	p.setHighWatermark(candidate)
	return true
}

// mustHave reports whether a record is committed only when r has it: r is in
// the ISR, or may be in it already as far as the controller is concerned (the
// maximal ISR, KIP-497), or is about to join and would never get there if the
// high watermark kept running ahead. A replica that may not join is not waited
// for (KAFKA-15021).
func (p *Partition) mustHave(r *remoteReplica, now time.Duration) bool {
	return contains(p.isr.maximal, r.broker) ||
		r.caughtUp(now, p.log.LogEnd(), p.config.LagTimeMax) && p.eligible(r)
}

// followHighWatermark takes the high watermark that the leader told with its
// records, as far as the own log reaches. A follower's may fall.
func (p *Partition) followHighWatermark(leader kafka.Offset) {
	p.setHighWatermark(p.withinLog(leader))
}

// setHighWatermark moves the high watermark and wakes those who wait for it.
func (p *Partition) setHighWatermark(o kafka.Offset) {
	if o == p.highWatermark {
		return
	}
	if o < p.log.LogStart() || o > p.log.LogEnd() {
		panicf("high watermark %d of %s is outside its log [%d, %d]", o, p.tp, p.log.LogStart(), p.log.LogEnd())
	}
	p.traceHighWatermark(p.highWatermark, o)
	p.highWatermark = o
	p.log.SetHighWatermark(o)
	p.host.Changed(p.tp)
}
