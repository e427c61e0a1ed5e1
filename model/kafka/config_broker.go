package kafka

import "math"

// The broker keys that tidemark's nodes obey, with the defaults of Kafka 4.x.
const (
	LogDirs                    = "log.dirs"
	DefaultReplicationFactor   = "default.replication.factor"
	NumPartitions              = "num.partitions"
	AutoCreateTopics           = "auto.create.topics.enable"
	MinInsyncReplicas          = "min.insync.replicas" // broker and topic
	UncleanLeaderElection      = "unclean.leader.election.enable"
	ReplicaLagTimeMaxMs        = "replica.lag.time.max.ms"
	ReplicaFetchWaitMaxMs      = "replica.fetch.wait.max.ms"
	ReplicaFetchMinBytes       = "replica.fetch.min.bytes"
	ReplicaFetchMaxBytes       = "replica.fetch.max.bytes"
	ReplicaFetchResponseMax    = "replica.fetch.response.max.bytes"
	ReplicaFetchBackoffMs      = "replica.fetch.backoff.ms"
	ReplicaSocketTimeoutMs     = "replica.socket.timeout.ms"
	HighWatermarkCheckpointMs  = "replica.high.watermark.checkpoint.interval.ms"
	FlushOffsetCheckpointMs    = "log.flush.offset.checkpoint.interval.ms"
	FlushStartOffsetCheckpoint = "log.flush.start.offset.checkpoint.interval.ms"
	LogSegmentDeleteDelayMs    = "log.segment.delete.delay.ms"
	BrokerHeartbeatIntervalMs  = "broker.heartbeat.interval.ms"
	BrokerSessionTimeoutMs     = "broker.session.timeout.ms"
	InitialRegistrationMs      = "initial.broker.registration.timeout.ms"
	ProducerIDExpirationMs     = "producer.id.expiration.ms"
	FetchMaxBytes              = "fetch.max.bytes"
	FetchSessionSlots          = "max.incremental.fetch.session.cache.slots"
	AutoLeaderRebalance        = "auto.leader.rebalance.enable"
	LeaderImbalanceCheckSec    = "leader.imbalance.check.interval.seconds"
	UncleanElectionIntervalMs  = "unclean.leader.election.interval.ms"
	QuorumRequestTimeoutMs     = "controller.quorum.request.timeout.ms"
	QuorumRetryBackoffMs       = "controller.quorum.retry.backoff.ms"
	QuorumAppendLingerMs       = "controller.quorum.append.linger.ms"
	MetadataMaxIdleMs          = "metadata.max.idle.interval.ms"
)

// The topic keys that tidemark's nodes obey.
const (
	SegmentBytes             = "segment.bytes"
	SegmentMs                = "segment.ms"
	IndexIntervalBytes       = "index.interval.bytes"
	SegmentIndexBytes        = "segment.index.bytes"
	MaxMessageBytes          = "max.message.bytes"
	FlushMessages            = "flush.messages"
	MessageTimestampType     = "message.timestamp.type"
	MessageTimestampBeforeMs = "message.timestamp.before.max.ms"
	MessageTimestampAfterMs  = "message.timestamp.after.max.ms"
	CleanupPolicy            = "cleanup.policy"
	CompressionType          = "compression.type" // topic, broker and producer
)

const (
	maxInt32    = math.MaxInt32
	maxInt64    = math.MaxInt64
	maxInt64Str = "9223372036854775807"
	// minSegmentBytes is the bound from before KIP-1030 (which made it 1 MiB):
	// runs that roll segments often stay small.
	minSegmentBytes = 14
)

var (
	timestampTypes = []string{"CreateTime", "LogAppendTime"}
	// compressionTypes are a topic's; producer keeps what each producer chose.
	compressionTypes = []string{"producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"}
	cleanupPolicies  = []string{"delete", "compact", "compact,delete", "delete,compact"}
)

func number(scope Scope, key, def string, low, high int64, doc string) Definition {
	return Definition{Key: key, Type: IntType, Default: def, Min: low, Max: high, Scope: scope, Doc: doc}
}

func flag(scope Scope, key, def, doc string) Definition {
	return Definition{Key: key, Type: BoolType, Default: def, Scope: scope, Doc: doc}
}

// choice is a key that takes one of a few words; the first is the default.
func choice(scope Scope, key, doc string, allowed []string) Definition {
	return Definition{Key: key, Type: TextType, Default: allowed[0], Allowed: allowed, Scope: scope, Doc: doc}
}

// behind says which broker key gives the default of a topic key.
func (d Definition) behind(broker string) Definition {
	d.Broker = broker
	return d
}

var _ = define(
	number(BrokerScope, DefaultReplicationFactor, "1", 1, math.MaxInt16, "replicas of a topic created without a number"),
	number(BrokerScope, NumPartitions, "1", 1, maxInt32, "partitions of a topic created without a number"),
	flag(BrokerScope, AutoCreateTopics, "true", "whether a topic is created when a client first asks for it"),
	number(BrokerScope|TopicScope, MinInsyncReplicas, "1", 1, maxInt32, "in-sync replicas that acks=all and the high watermark need").behind(MinInsyncReplicas),
	flag(BrokerScope|TopicScope, UncleanLeaderElection, "false", "whether a replica outside the ISR may lead when nobody else can").behind(UncleanLeaderElection),

	number(BrokerScope, ReplicaLagTimeMaxMs, "30000", 1, maxInt64, "ms without being caught up after which a follower leaves the ISR"),
	number(BrokerScope, ReplicaFetchWaitMaxMs, "500", 0, maxInt32, "ms that a leader may hold a follower's fetch"),
	number(BrokerScope, ReplicaFetchMinBytes, "1", 0, maxInt32, "bytes that a follower's fetch waits for"),
	number(BrokerScope, ReplicaFetchMaxBytes, "1048576", 0, maxInt32, "bytes of one partition in a follower's fetch; the first batch always fits"),
	number(BrokerScope, ReplicaFetchResponseMax, "10485760", 0, maxInt32, "bytes of a follower's fetch; the first batch always fits"),
	number(BrokerScope, ReplicaFetchBackoffMs, "1000", 0, maxInt32, "ms that a follower waits after an error"),
	number(BrokerScope, ReplicaSocketTimeoutMs, "30000", 1, maxInt32, "ms after which a follower gives up a request"),
	Definition{Key: LogDirs, Type: NamesType, Scope: BrokerScope, Doc: "names of the log directories, with commas; empty: the node's own directory is the only one"},
	number(BrokerScope, HighWatermarkCheckpointMs, "5000", 1, maxInt64, "ms between writes of replication-offset-checkpoint"),
	number(BrokerScope, FlushOffsetCheckpointMs, "60000", 0, maxInt32, "ms between writes of recovery-point-offset-checkpoint"),
	number(BrokerScope, FlushStartOffsetCheckpoint, "60000", 0, maxInt32, "ms between writes of log-start-offset-checkpoint"),
	number(BrokerScope, LogSegmentDeleteDelayMs, "60000", 0, maxInt64, "ms between renaming and removing deleted files"),
	number(BrokerScope, ProducerIDExpirationMs, "86400000", 1, maxInt32, "ms after its last batch when a partition forgets a producer"),
	number(BrokerScope, FetchMaxBytes, "57671680", 1024, maxInt32, "bytes of a fetch answer, whatever the client asks"),
	number(BrokerScope, FetchSessionSlots, "1000", 0, maxInt32, "incremental fetch sessions of a broker"),

	number(BrokerScope, BrokerHeartbeatIntervalMs, "2000", 1, maxInt32, "ms between a broker's heartbeats"),
	number(BrokerScope, BrokerSessionTimeoutMs, "9000", 1, maxInt32, "ms without a heartbeat after which a broker is fenced"),
	number(BrokerScope, InitialRegistrationMs, "60000", 1, maxInt32, "ms within which a starting broker must have registered"),
	flag(BrokerScope, AutoLeaderRebalance, "true", "whether the controller gives leadership back to preferred replicas"),
	number(BrokerScope, LeaderImbalanceCheckSec, "300", 1, maxInt64, "seconds between preferred-leader passes"),
	number(BrokerScope, UncleanElectionIntervalMs, "300000", 1, maxInt64, "ms between unclean elections of leaderless partitions"),

	number(BrokerScope, QuorumRequestTimeoutMs, "2000", 1, maxInt32, "ms after which a quorum request has failed"),
	number(BrokerScope, QuorumRetryBackoffMs, "20", 0, maxInt32, "ms before a quorum request is sent again"),
	number(BrokerScope, QuorumAppendLingerMs, "25", 0, maxInt32, "ms that metadata records wait for company"),
	number(BrokerScope, MetadataMaxIdleMs, "500", 0, maxInt32, "ms after which an idle controller writes a no-op record; 0 never"),

	number(BrokerScope, "log.segment.bytes", "1073741824", minSegmentBytes, maxInt32, "default of segment.bytes"),
	number(BrokerScope, "log.roll.ms", "604800000", 1, maxInt64, "default of segment.ms"),
	number(BrokerScope, "log.index.interval.bytes", "4096", 0, maxInt32, "default of index.interval.bytes"),
	number(BrokerScope, "log.index.size.max.bytes", "10485760", 4, maxInt32, "default of segment.index.bytes"),
	number(BrokerScope, "message.max.bytes", "1048588", 0, maxInt32, "default of max.message.bytes"),
	number(BrokerScope, "log.flush.interval.messages", maxInt64Str, 1, maxInt64, "default of flush.messages"),
	number(BrokerScope, "log.message.timestamp.before.max.ms", maxInt64Str, 0, maxInt64, "default of message.timestamp.before.max.ms"),
	number(BrokerScope, "log.message.timestamp.after.max.ms", "3600000", 0, maxInt64, "default of message.timestamp.after.max.ms"),
	choice(BrokerScope, "log.message.timestamp.type", "default of message.timestamp.type", timestampTypes),
	choice(BrokerScope, CompressionType, "default of a topic's compression.type", compressionTypes),
	choice(BrokerScope, "log.cleanup.policy", "default of cleanup.policy", cleanupPolicies),
)

var _ = define(
	number(TopicScope, SegmentBytes, "1073741824", minSegmentBytes, maxInt32, "bytes after which a segment is rolled").behind("log.segment.bytes"),
	number(TopicScope, SegmentMs, "604800000", 1, maxInt64, "ms after which a segment is rolled").behind("log.roll.ms"),
	number(TopicScope, IndexIntervalBytes, "4096", 0, maxInt32, "bytes between entries of the offset index").behind("log.index.interval.bytes"),
	number(TopicScope, SegmentIndexBytes, "10485760", 4, maxInt32, "bytes of an index after which a segment is rolled").behind("log.index.size.max.bytes"),
	number(TopicScope, MaxMessageBytes, "1048588", 0, maxInt32, "largest batch, bytes").behind("message.max.bytes"),
	number(TopicScope, FlushMessages, maxInt64Str, 1, maxInt64, "records after which a log is synced").behind("log.flush.interval.messages"),
	choice(TopicScope, MessageTimestampType, "who stamps records: producer or leader", timestampTypes).behind("log.message.timestamp.type"),
	number(TopicScope, MessageTimestampBeforeMs, maxInt64Str, 0, maxInt64, "ms that a CreateTime may lie in the past").behind("log.message.timestamp.before.max.ms"),
	number(TopicScope, MessageTimestampAfterMs, "3600000", 0, maxInt64, "ms that a CreateTime may lie in the future").behind("log.message.timestamp.after.max.ms"),
	choice(TopicScope, CompressionType, "codec that batches are stored with; producer keeps that of each", compressionTypes).behind(CompressionType),
	choice(TopicScope, CleanupPolicy, "whether old segments are deleted, compacted or both", cleanupPolicies).behind("log.cleanup.policy"),
)
