package rules

// cleanLastBatch=drop
//
// Until 0.11.0.1 a batch went as soon as all of its records had newer ones for
// their keys, also if it was the last that its producer had sent. A replica that
// loaded the log again then knew nothing of the producer, or only older
// sequences: it refused the next batch as out of order, or took the retry of the
// lost one for new (KAFKA-5490; story C4).
var cleanLastBatchDrop = Variant{
	Switch:  "cleanLastBatch",
	Value:   "drop",
	Current: "keepEmpty",
	Summary: "compaction drops a batch without records even if it is the last of its producer",
	History: "Kafka 0.11.0.0 (2017); KAFKA-5490",
	Stories: "C4",
	Apply: func(r *Rules) {
		r.Cleaner.KeepEmpty = func(LastBatch) bool { return false }
	},
}
