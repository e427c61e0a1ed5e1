package rules

import "tidemark/model/kafka"

// deleteHorizon=segmentMtime
//
// Before batches carried a delete horizon, the age of a tombstone was that of
// its segment: a pass dropped the tombstones of segments that were
// delete.retention.ms older than the last segment cleaned before. Releases took
// the file's time of modification for it, 0.10.1 the largest timestamp in the
// segment, which is what is taken here, as the disks of a simulation have no
// file times. Either tells when the record came, not since when it is all that
// is left of its key: where the cleaner came late, the pass after the one that
// dropped the value could drop the tombstone, and a reader in between saw
// neither (KAFKA-4529; story C2). With steady transactions it could also keep
// markers for ever (KAFKA-8522).
//
// KIP-534 (3.1) stamps the batch with the horizon at the first pass.
var deleteHorizonSegmentMtime = Variant{
	Switch:  "deleteHorizon",
	Value:   "segmentMtime",
	Current: "batchStamp",
	Summary: "a tombstone may go once its segment is delete.retention.ms older than the last clean segment",
	History: "Kafka before 3.1 (2022); KAFKA-4529, KIP-534",
	Stories: "C2",
	Apply: func(r *Rules) {
		r.Cleaner.MayDrop = func(a DeleteAge) bool {
			return a.Clean != never && a.Segment <= a.Clean-kafka.Timestamp(a.DeleteRetentionMs)
		}
		r.Cleaner.Horizon = func(kafka.Timestamp, int64) (kafka.Timestamp, bool) { return never, false }
	},
}
