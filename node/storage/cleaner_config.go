package storage

import "tidemark/model/kafka"

// CleanerConfig is what the cleaner of one lane needs of a broker's
// configuration.
type CleanerConfig struct {
	// DedupeBufferBytes bounds the map from keys to offsets, LoadFactor is how full
	// it may get, in millionths. A pass covers what fits.
	DedupeBufferBytes int64
	LoadFactor        int64
	// IOBufferBytes is how many bytes a step reads, unless a batch is larger.
	IOBufferBytes int32
	// BackoffMs is the wait after a look at all logs found nothing to clean, ms.
	BackoffMs int64
	// MaxBytesPerSecond bounds what is read and written, together.
	MaxBytesPerSecond int64
}

// minIOBuffer is the least that a step reads, bytes.
const minIOBuffer = 512

// CleanerConfigOf picks the cleaner's part from a broker's configuration. Each of
// the broker's lanes that hold logs stands for one of log.cleaner.threads, which
// share the memory and the throughput.
func CleanerConfigOf(broker kafka.Config, lanes int) CleanerConfig {
	n := int64(lanes)
	return CleanerConfig{
		DedupeBufferBytes: broker.Int(kafka.LogCleanerDedupeBufferSize) / n,
		LoadFactor:        broker.Ratio(kafka.LogCleanerLoadFactor),
		IOBufferBytes:     max(int32(broker.Int(kafka.LogCleanerIOBufferSize)/n/2), minIOBuffer), // half of it is to write from
		BackoffMs:         broker.Int(kafka.LogCleanerBackoffMs),
		MaxBytesPerSecond: max(broker.Int(kafka.LogCleanerIOMaxBytesPerSec)/n, 1),
	}
}
