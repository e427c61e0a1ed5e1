package checker

// Promise is a check in one sentence: what must hold, from which evidence.
type Promise struct {
	Rule     string
	WhiteBox bool // judged from inside the cluster; else from the client history alone
	Text     string
}

// Promises lists every check, those from inside first, in the order of New.
func Promises() []Promise {
	return []Promise{
		{"LogMatching", true, "two replicas hold the same batches below both their high watermarks"},
		{"LeaderCompleteness", true, "a new leader holds every committed record"},
		{"HWMonotone", true, "the true high watermark (the largest that any leader of the partition reached) never falls"},
		{"OneLeaderPerEpoch", true, "no two brokers lead a partition in one leader epoch"},
		{"audit", true, "what a replica claims is what lies in its segments"},
		{"invariant", true, "no state machine stopped because its own invariant broke"},
		{"alter-partition-register", true, "AlterPartition is a compare-and-set on leader epoch, partition epoch and ISR"},
		{"acked-before-commit", true, "a success with acks=all comes after the true high watermark has passed the record"},
		{"read-before-commit", true, "a consumer is given only what lies below the true high watermark"},
		{"lost-write", false, "a record acknowledged with acks=all is there at the last read of its offset"},
		{"inconsistent-offsets", false, "an offset has one value for everybody"},
		{"failed-write-visible", false, "a record whose send failed for certain is never read"},
		{"read-from-future", false, "no record is read before it was sent"},
		{"real-time-inversion", false, "a record acknowledged before another was sent lies below it"},
		{"phantom", false, "every record that is read was sent"},
		{"corrupt-value", false, "a record is read with the value that was sent"},
		{"duplicate", false, "a record of an idempotent producer lies at one offset"},
		{"unexplained-gap", false, "no offset is missing without a reason"},
		{"poll-skip", false, "a consumer passes over no record"},
		{"nonmonotonic-poll", false, "a consumer's position goes back only when something moved it"},
		{"checker-disagreement", false, "porcupine and the near-linear check of the order agree"},
	}
}
