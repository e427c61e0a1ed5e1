package consumer

import (
	"time"

	"tidemark/model/kafka"
	"tidemark/node/client"
)

// Config is a consumer's configuration; the keys are Kafka's.
type Config struct {
	// ResetTo is where to go on when the position is gone: client.Earliest,
	// client.Latest or Nowhere.
	ResetTo        kafka.Timestamp
	MinBytes       int32 // fetch.min.bytes
	MaxBytes       int32 // fetch.max.bytes
	PartitionBytes int32 // max.partition.fetch.bytes
	MaxWait        time.Duration
	// Isolation is isolation.level: with client.ReadCommitted only records that
	// are in no transaction, or in a committed one, are returned.
	Isolation      client.Isolation
	MaxPollRecords int
	CheckCRCs      bool
	RequestTimeout time.Duration
}

// Nowhere stands for auto.offset.reset=none: the application decides.
const Nowhere kafka.Timestamp = 0

// NewConfig reads a configuration that kafka.NewConsumerConfig returned.
func NewConfig(c kafka.Config) Config {
	resets := map[string]kafka.Timestamp{"earliest": client.Earliest, "latest": client.Latest, "none": Nowhere}
	isolations := map[string]client.Isolation{"read_uncommitted": client.ReadUncommitted, "read_committed": client.ReadCommitted}
	return Config{
		ResetTo:        resets[c.Text(kafka.AutoOffsetReset)],
		MinBytes:       c.Int32(kafka.FetchMinBytes),
		MaxBytes:       c.Int32(kafka.FetchMaxBytes),
		PartitionBytes: c.Int32(kafka.MaxPartitionFetchBytes),
		MaxWait:        c.Millis(kafka.FetchMaxWaitMs),
		Isolation:      isolations[c.Text(kafka.IsolationLevel)],
		MaxPollRecords: int(c.Int(kafka.MaxPollRecords)),
		CheckCRCs:      c.Bool(kafka.CheckCRCs),
		RequestTimeout: c.Millis(kafka.RequestTimeoutMs),
	}
}
