package replica

import (
	"math"
	"time"

	"tidemark/model/kafka"
)

// remoteReplica is what the leader knows of a follower, all of it from the
// follower's fetches.
type remoteReplica struct {
	broker kafka.BrokerID
	// logEnd is the offset that it fetched last: it has everything below.
	// NoOffset before its first fetch.
	logEnd   kafka.Offset
	logStart kafka.Offset // as its last fetch told; NoOffset before that
	// lastFetch is when it fetched last, and leaderEndAtFetch the leader's log
	// end offset of that time (the greatest of all fetches).
	lastFetch        time.Duration
	leaderEndAtFetch kafka.Offset
	// lastCaughtUp is the newest time at which it is known to have had all that
	// the leader had.
	lastCaughtUp time.Duration
	// brokerEpoch is the process life that fetches (KIP-903), NoBrokerEpoch if
	// the fetch did not tell. It counts only once fetched is set.
	brokerEpoch kafka.BrokerEpoch
	fetched     bool
}

// never is long before every time of a lane's clock.
const never = time.Duration(math.MinInt64 / 2)

// unknownReplica is a follower that did not fetch yet.
func unknownReplica(b kafka.BrokerID) remoteReplica {
	return remoteReplica{broker: b, logEnd: kafka.NoOffset, logStart: kafka.NoOffset, lastFetch: never,
		leaderEndAtFetch: kafka.NoOffset, lastCaughtUp: never, brokerEpoch: kafka.NoBrokerEpoch}
}

// reset prepares for a leader epoch that starts at epochStart. A new leader
// knows nothing. One that stays leader keeps what it learned, which trusts the
// followers to have followed nobody else in between: Kafka does so even if this
// broker's metadata has skipped another's leadership. A member of the ISR counts
// as caught up now, which gives it replica.lag.time.max.ms to fetch for the first
// time; others must not hold the high watermark back.
func (r *remoteReplica) reset(now time.Duration, epochStart kafka.Offset, newLeader, inSync bool) {
	if newLeader {
		*r = unknownReplica(r.broker)
	} else {
		r.leaderEndAtFetch = epochStart
		r.lastFetch = never
		if inSync {
			r.lastFetch = now
		}
	}
	r.lastCaughtUp = never
	if inSync {
		r.lastCaughtUp = now
	}
}

// fetchedAt takes note of a fetch from offset o while the leader's log ended at
// leaderEnd.
//
// A follower that always fetches at full speed behind a busy leader never
// reaches the leader's end at the instant of its fetch. So reaching the end of
// the fetch before counts as well, as of the time of that fetch (KAFKA-1546,
// KIP-16).
func (r *remoteReplica) fetchedAt(now time.Duration, o, logStart, leaderEnd kafka.Offset, epoch kafka.BrokerEpoch) {
	if o >= leaderEnd {
		r.lastCaughtUp = max(r.lastCaughtUp, now)
	} else if o >= r.leaderEndAtFetch {
		r.lastCaughtUp = max(r.lastCaughtUp, r.lastFetch)
	}
	r.logEnd = o
	r.logStart = logStart
	r.leaderEndAtFetch = max(r.leaderEndAtFetch, leaderEnd)
	r.lastFetch = now
	r.brokerEpoch = epoch
	r.fetched = true
}

// caughtUp reports whether the follower has everything, or had everything that
// there was at some time within lagTimeMax.
func (r *remoteReplica) caughtUp(now time.Duration, leaderEnd kafka.Offset, lagTimeMax time.Duration) bool {
	return r.logEnd == leaderEnd || now-r.lastCaughtUp <= lagTimeMax
}
