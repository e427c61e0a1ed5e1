package checker

import "slices"

// Promise is a check in one sentence: what must hold, from which evidence.
type Promise struct {
	Rule     string
	WhiteBox bool // judged from inside the cluster; else from the client history alone
	Text     string
	Jepsen   string // the anomaly's names in jepsen.tests.kafka, or Elle's beneath it; "" if it has none there
}

// Promises lists every check in the order in which they judge: those from inside
// the cluster, those over logs, those over transactions and groups.
func Promises() []Promise {
	return slices.Concat(logPromises, txnPromises(), []Promise{
		{"checker-disagreement", false, "porcupine and the near-linear check of the order agree", ""},
	})
}

var logPromises = []Promise{
	{"LogMatching", true, "two replicas hold the same batches below both their high watermarks", ""},
	{"LeaderCompleteness", true, "a new leader holds every committed record", ""},
	{"HWMonotone", true, "the true high watermark (the largest that any leader of the partition reached) never falls", ""},
	{"high-watermark-rule", true, "a leader moves the high watermark only over what its whole ISR has", ""},
	{"OneLeaderPerEpoch", true, "no two brokers lead a partition in one leader epoch", ""},
	{"leader-in-isr", true, "a leader comes from the ISR, unless the election says that it is unclean", ""},
	{"metadata-order", true, "the controller's decisions on a partition have one order, by its epochs", ""},
	{"audit", true, "what a replica claims is what lies in its segments", ""},
	{"invariant", true, "no state machine stopped because its own invariant broke", ""},
	{"alter-partition-register", true, "AlterPartition is a compare-and-set on leader epoch, partition epoch and ISR", ""},
	{"acked-before-commit", true, "a success with acks=all comes after the true high watermark has passed the record", ""},
	{"read-before-commit", true, "a consumer is given only what lies below the true high watermark", ""},
	{"under-replicated-ack", true, "a success with acks=all is of a record that min.insync.replicas members of the ISR had", ""},
	{"stale-leader-ack", true, "a success with acks=all is of a record that the newest leader holds", ""},
	{"malformed", false, "the history goes forward, what ends has begun, partitions are those of their topic; else unknown", ""},
	{"ambiguous-attempt", false, "no two sends share an attempt; else unknown", ""},
	{"lost-write", false, "a record acknowledged with acks=all is there at the last read of its offset", "lost-write"},
	{"inconsistent-offsets", false, "an offset has one value for everybody", "inconsistent-offsets"},
	{"failed-write-visible", false, "a record whose send failed for certain is never read", "G1a"},
	{"read-from-future", false, "no record is read before it was sent", "G1c-realtime, G1c-process"},
	{"real-time-inversion", false, "a record acknowledged before another was sent lies below it", "G0-realtime, G0-process"},
	{"ack-offset-wrong", false, "a record lies at the offset that its acknowledgement told", "duplicate"},
	{"phantom", false, "every record that is read was sent", ""},
	{"corrupt-value", false, "a record is read with the key, value, headers and timestamp that were sent", ""},
	{"duplicate", false, "a record of an idempotent producer lies at one offset", "duplicate"},
	{"app-duplicate", false, "(never promised) what an application sends twice lies there once", ""},
	{"unexplained-gap", false, "no offset is missing without a reason", ""},
	{"vanished-read", false, "what some consumer was given is there for every later reader", "lost-write"},
	{"unseen", false, "an acknowledged record lies below the end that a leader tells later", "unseen"},
	{"end-offset-regression", false, "the latest offset, as it is told, does not go back", ""},
	{"log-start-regression", false, "the earliest offset does not go back, and nothing below it is read", ""},
	{"poll-skip", false, "a consumer passes over no record that is there", "poll-skip"},
	{"int-poll-skip", false, "the same within one poll and within one transaction", "int-poll-skip, poll-skip"},
	{"nonmonotonic-poll", false, "a consumer's position goes back only when something moved it", "nonmonotonic-poll"},
	{"int-nonmonotonic-poll", false, "the same within one poll and within one transaction", "int-nonmonotonic-poll"},
	{"illegal-reset", false, "a position is reset as out of range or truncated only where the log does not hold it", ""},
	{"producer-order", false, "one producer's records lie in the order in which it sent them", "nonmonotonic-send, int-nonmonotonic-send"},
	{"idempotence-break", false, "one epoch of a producer leaves no hole in what it sent", ""},
	{"int-send-skip", false, "(never promised) a transaction's records lie side by side", "int-send-skip"},
	{"leader-epoch-regression", false, "leader epochs do not fall along a log", ""},
	{"read-beyond-watermark", true, "a consumer is given nothing above what the same answer calls the end (a note from the client history alone)", ""},
	{"newest-lost", false, "the cleaner keeps the last record of each key", ""},
	{"tombstone-early", false, "whoever comes by within delete.retention.ms sees the tombstone", ""},
	{"rewritten", false, "what the cleaner leaves keeps its offset and its value", ""},
	{"active-head-touched", false, "the cleaner leaves alone what is younger than min.compaction.lag.ms", ""},
	{"deletion-outside-policy", false, "a log start moves only as retention and DeleteRecords allow", ""},
	{"kv-view", false, "who reads a compacted topic to its end holds the last record of each key", ""},
	{"realtime-lag", false, "no reader is behind by more than bound.lag.ms, if it is set", "realtime-lag"},
	{"recovery", false, "everybody works again bound.recovery.ms after the last fault, if it is set", ""},
	{"stuck-client", false, "without a fault a send is answered within bound.stuck.ms, if it is set", ""},
}
