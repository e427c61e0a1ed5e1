package storage

import (
	"strings"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// Config is what the log engine needs of a topic's configuration, under Kafka's
// names.
type Config struct {
	SegmentBytes       int32 // segment.bytes: a segment is rolled before it gets larger
	SegmentMs          int64 // segment.ms: a segment is rolled when its first batch is older, ms
	SegmentJitterMs    int64 // segment.jitter.ms: by up to so much earlier, drawn for each segment
	IndexIntervalBytes int32 // index.interval.bytes: log bytes between two index entries
	SegmentIndexBytes  int32 // segment.index.bytes: an index of this size counts as full
	MaxMessageBytes    int32 // max.message.bytes: largest batch from a client
	FlushMessages      int64 // flush.messages: records after which an append is to be synced
	FlushMs            int64 // flush.ms: time after which a log is to be synced
	// RetentionMs and RetentionBytes are retention.ms and retention.bytes, the
	// age and size above which old segments are deleted; -1 is no limit.
	// DeleteRetentionMs, MinCompactionLagMs and MaxCompactionLagMs bound what
	// compaction takes.
	RetentionMs        int64
	RetentionBytes     int64
	DeleteRetentionMs  int64
	MinCompactionLagMs int64
	MaxCompactionLagMs int64
	// MinCleanableRatio is min.cleanable.dirty.ratio, in millionths: the part of a
	// log that must be dirty before it is compacted.
	MinCleanableRatio int64
	FileDeleteDelayMs int64 // file.delete.delay.ms: between renaming and removing a file
	// TimestampType is message.timestamp.type.
	TimestampType record.TimestampType
	// TimestampBeforeMaxMs and TimestampAfterMaxMs are how far a CreateTime may
	// lie before and after the leader's clock, ms (KIP-937).
	TimestampBeforeMaxMs int64
	TimestampAfterMaxMs  int64
	// Recompress tells that compression.type names a codec, Codec, under which
	// every batch is stored; else each keeps that of its producer.
	Recompress bool
	Codec      record.Codec
	// Delete and Compacted tell what cleanup.policy contains: segments are deleted
	// by age and size; segments are compacted, and records need a key.
	Delete    bool
	Compacted bool
}

// ConfigOf picks the engine's part from a configuration of TopicScope.
func ConfigOf(topic kafka.Config) Config {
	policy := topic.Text(kafka.CleanupPolicy)
	c := Config{
		SegmentBytes:         topic.Int32(kafka.SegmentBytes),
		SegmentMs:            topic.Int(kafka.SegmentMs),
		SegmentJitterMs:      topic.Int(kafka.SegmentJitterMs),
		IndexIntervalBytes:   topic.Int32(kafka.IndexIntervalBytes),
		SegmentIndexBytes:    topic.Int32(kafka.SegmentIndexBytes),
		MaxMessageBytes:      topic.Int32(kafka.MaxMessageBytes),
		FlushMessages:        topic.Int(kafka.FlushMessages),
		FlushMs:              topic.Int(kafka.FlushMs),
		RetentionMs:          topic.Int(kafka.RetentionMs),
		RetentionBytes:       topic.Int(kafka.RetentionBytes),
		DeleteRetentionMs:    topic.Int(kafka.DeleteRetentionMs),
		MinCompactionLagMs:   topic.Int(kafka.MinCompactionLagMs),
		MaxCompactionLagMs:   topic.Int(kafka.MaxCompactionLagMs),
		MinCleanableRatio:    topic.Ratio(kafka.MinCleanableDirtyRatio),
		FileDeleteDelayMs:    topic.Int(kafka.FileDeleteDelayMs),
		TimestampBeforeMaxMs: topic.Int(kafka.MessageTimestampBeforeMs),
		TimestampAfterMaxMs:  topic.Int(kafka.MessageTimestampAfterMs),
		Delete:               strings.Contains(policy, "delete"),
		Compacted:            strings.Contains(policy, "compact"),
	}
	if topic.Text(kafka.MessageTimestampType) == record.LogAppendTime.String() {
		c.TimestampType = record.LogAppendTime
	}
	c.Codec, c.Recompress = topicCodecs[topic.Text(kafka.CompressionType)]
	return c
}

// topicCodecs are the values of a topic's compression.type but producer, which
// leaves every batch as it is.
var topicCodecs = map[string]record.Codec{
	"uncompressed": record.None, "gzip": record.Gzip, "snappy": record.Snappy, "lz4": record.LZ4, "zstd": record.Zstd,
}

// codecFor is the codec under which a batch is to be stored. Like the others, which
// each append asks, it takes the address: a Config is large.
func (c *Config) codecFor(b record.Batch) record.Codec {
	if c.Recompress {
		return c.Codec
	}
	return b.Compression()
}

// maxSegmentMs is the age at which a segment is rolled, ms. A compacted log has
// to roll in time for max.compaction.lag.ms, as the active segment is never
// compacted.
func (c *Config) maxSegmentMs() int64 {
	if c.Compacted {
		return min(c.SegmentMs, c.MaxCompactionLagMs)
	}
	return c.SegmentMs
}

// DefaultConfig is the configuration of a topic without settings of its own on
// a broker without settings of its own.
func DefaultConfig() Config {
	topic, err := kafka.NewConfig(kafka.TopicScope)
	if err != nil {
		panic(err)
	}
	return ConfigOf(topic)
}

// maxOffsetEntries and maxTimeEntries are how many entries make an index full.
// The time index keeps a slot for the entry that is added when a segment ends.
func (c *Config) maxOffsetEntries() int { return int(c.SegmentIndexBytes) / offsetEntrySize }

func (c *Config) maxTimeEntries() int { return int(c.SegmentIndexBytes)/timeEntrySize - 1 }
