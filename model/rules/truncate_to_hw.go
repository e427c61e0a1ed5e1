package rules

import "tidemark/model/kafka"

// truncate=toHW
//
// Until 0.11 a replica that became follower cut its log to the high watermark
// it knew and fetched on from there. But a follower learns the high watermark
// one fetch after the records, so the cut can take records that the old leader
// has committed and acknowledged. If the new leader dies before they are
// fetched again, and this replica is elected, they are gone (KIP-101 scenario
// 1, KAFKA-1211; story R1). And where both replicas lost power, equal high
// watermarks can stand on different records, which no cut to the high watermark
// will ever part (scenario 2).
//
// KIP-101 (0.11) made the leader epoch the judge, KIP-279 (2.0) closed the hole
// that fast failovers left, KIP-595 (2.7) moved the question into the fetch.
var truncateToHW = Variant{
	Switch:  "truncate",
	Value:   "toHW",
	Current: "leaderEpoch",
	Summary: "a new follower cuts its log to its high watermark instead of asking where the epochs part",
	History: "Kafka before 0.11 (2017); KIP-101 scenarios 1 and 2, KAFKA-1211",
	Stories: "R1",
	Apply: func(r *Rules) {
		r.Replica.StartFollowing = func(l FollowerLog) kafka.Offset { return l.HighWatermark }
		// Fetches of that time carried no epoch, so no leader could object.
		r.Replica.LastFetchedEpoch = func(kafka.LeaderEpoch) kafka.LeaderEpoch { return kafka.NoEpoch }
	},
}
