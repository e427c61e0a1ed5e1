package kafka

// The topic keys of how long a log keeps what, and of how its segments end.
const (
	RetentionMs        = "retention.ms"
	RetentionBytes     = "retention.bytes"
	SegmentJitterMs    = "segment.jitter.ms"
	FileDeleteDelayMs  = "file.delete.delay.ms"
	FlushMs            = "flush.ms"
	DeleteRetentionMs  = "delete.retention.ms"
	MinCompactionLagMs = "min.compaction.lag.ms"
	MaxCompactionLagMs = "max.compaction.lag.ms"

	logCleanerMinCompactionLagMs = "log.cleaner.min.compaction.lag.ms"
	logCleanerMaxCompactionLagMs = "log.cleaner.max.compaction.lag.ms"
)

// The broker keys of when logs are looked at.
const (
	LogRetentionCheckMs = "log.retention.check.interval.ms"
	LogFlushSchedulerMs = "log.flush.scheduler.interval.ms"
	LogInitialDelayMs   = "log.initial.task.delay.ms"
)

// unbounded is the value of retention.ms and retention.bytes that sets no limit.
const unbounded = -1

var _ = define(
	number(BrokerScope, LogRetentionCheckMs, "300000", 1, maxInt64, "ms between two looks for segments to delete"),
	number(BrokerScope, LogFlushSchedulerMs, maxInt64Str, 1, maxInt64, "ms between two looks for logs whose flush.ms is over"),
	number(BrokerScope, LogInitialDelayMs, "30000", 0, maxInt64, "ms after the start before logs are first looked at"),

	number(BrokerScope, "log.retention.ms", "604800000", unbounded, maxInt64, "default of retention.ms"),
	number(BrokerScope, "log.retention.bytes", "-1", unbounded, maxInt64, "default of retention.bytes"),
	number(BrokerScope, "log.roll.jitter.ms", "0", 0, maxInt64, "default of segment.jitter.ms"),
	number(BrokerScope, "log.flush.interval.ms", maxInt64Str, 0, maxInt64, "default of flush.ms"),
	number(BrokerScope, "log.cleaner.delete.retention.ms", "86400000", 0, maxInt64, "default of delete.retention.ms"),
	number(BrokerScope, logCleanerMinCompactionLagMs, "0", 0, maxInt64, "default of min.compaction.lag.ms"),
	number(BrokerScope, logCleanerMaxCompactionLagMs, maxInt64Str, 1, maxInt64, "default of max.compaction.lag.ms"),

	number(TopicScope, RetentionMs, "604800000", unbounded, maxInt64, "ms after which a segment may be deleted; -1 never").behind("log.retention.ms"),
	number(TopicScope, RetentionBytes, "-1", unbounded, maxInt64, "bytes of a log above which its oldest segments may be deleted; -1 never").behind("log.retention.bytes"),
	number(TopicScope, SegmentJitterMs, "0", 0, maxInt64, "most ms by which a segment is rolled earlier, drawn for each").behind("log.roll.jitter.ms"),
	number(TopicScope, FileDeleteDelayMs, "60000", 0, maxInt64, "ms between renaming and removing a deleted file").behind(LogSegmentDeleteDelayMs),
	number(TopicScope, FlushMs, maxInt64Str, 0, maxInt64, "ms after which a log is synced").behind("log.flush.interval.ms"),
	number(TopicScope, DeleteRetentionMs, "86400000", 0, maxInt64, "ms that compaction keeps tombstones and transaction markers").behind("log.cleaner.delete.retention.ms"),
	number(TopicScope, MinCompactionLagMs, "0", 0, maxInt64, "ms before a record may be compacted").behind(logCleanerMinCompactionLagMs),
	number(TopicScope, MaxCompactionLagMs, maxInt64Str, 1, maxInt64, "ms after which a record must be compacted").behind(logCleanerMaxCompactionLagMs),
)
