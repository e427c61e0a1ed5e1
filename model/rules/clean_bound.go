package rules

import (
	"math"

	"tidemark/model/kafka"
)

// cleanBound=activeSegment
//
// Until 3.0 the cleaner asked for the first unstable offset, and a log without
// an open transaction has none: then only the active segment stopped it. So a
// leader compacted a committed value away in favour of one that no follower had
// yet. If another replica was elected, the new value was cut off when the old
// leader followed, and the old value was gone already: the key is lost there
// (KAFKA-13194; story C1).
var cleanBoundActiveSegment = Variant{
	Switch:  "cleanBound",
	Value:   "activeSegment",
	Current: "lsoAndHw",
	Summary: "compaction goes up to the active segment, past the high watermark, unless a transaction is open",
	History: "Kafka before 3.0 (2021); KAFKA-13194",
	Stories: "C1",
	Apply: func(r *Rules) {
		r.Cleaner.Bound = func(l CleanableLog) kafka.Offset {
			if l.FirstUnstable == kafka.NoOffset {
				return math.MaxInt64
			}
			return l.FirstUnstable
		}
	},
}
