package rules

import "tidemark/model/kafka"

// recovery=trust
//
// Kafka's first releases (0.6) opened a log after a crash as it lay there: a batch
// that was torn by the crash stayed at the end, and the next append went behind
// it. Readers met garbage, or skipped it. Since 0.8 there is a recovery point, and
// a start without the clean-shutdown marker walks what lies behind it and cuts the
// log at the first bad batch (KAFKA-188, KAFKA-881 and others; story D1).
var recoveryTrust = Variant{
	Switch:  "recovery",
	Value:   "trust",
	Current: "scan",
	Summary: "a log is opened as it lies there after a crash: a torn batch at its end stays, and appends go behind it",
	History: "Kafka 0.6 and 0.7 (2011, 2012)",
	Stories: "D1",
	Apply: func(r *Rules) {
		r.Storage.Walk = func(LogFound) (kafka.Offset, bool) { return 0, false }
	},
}

// indexRecovery=trust
//
// An index is mapped into memory and reaches the disk page by page, in any order.
// After a power loss the index of a segment that was not flushed may have entries
// that are zero, or that point behind the end of the log. Kafka once believed the
// indexes of the segments that it recovered; look-ups then landed in the wrong
// place and readers skipped records (KAFKA-2012, KAFKA-7283; story D4). Today the
// walk of recovery makes them anew, and only those of flushed segments are
// believed, after cheap checks.
var indexRecoveryTrust = Variant{
	Switch:  "indexRecovery",
	Value:   "trust",
	Current: "rebuild",
	Summary: "the indexes of segments that recovery walks are believed instead of made anew",
	History: "Kafka before 0.8.2 (2015); KAFKA-2012",
	Stories: "D4",
	Apply:   func(r *Rules) { r.Storage.RebuildIndexes = false },
}
