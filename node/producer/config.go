package producer

import (
	"time"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node/client"
)

// Config is a producer's configuration; the keys are Kafka's.
type Config struct {
	Acks            int16 // -1 all, 0, 1
	BatchSize       int   // bytes
	Linger          time.Duration
	BufferMemory    int64 // bytes
	MaxRequestSize  int   // bytes
	MaxBlock        time.Duration
	MaxInFlight     int // requests on a connection
	Retries         int
	DeliveryTimeout time.Duration
	RequestTimeout  time.Duration
	Adaptive        bool
	Availability    time.Duration // 0: off
	IgnoreKeys      bool
	Compression     record.Codec
	// Idempotence needs Acks -1, Retries from 1 and MaxInFlight up to 5.
	Idempotence bool
}

// NewConfig reads a configuration that kafka.NewProducerConfig returned.
func NewConfig(c kafka.Config) Config {
	acks := map[string]int16{"all": -1, "-1": -1, "0": 0, "1": 1}
	return Config{
		Acks:            acks[c.Text(kafka.Acks)],
		BatchSize:       int(c.Int(kafka.BatchSize)),
		Linger:          c.Millis(kafka.LingerMs),
		BufferMemory:    c.Int(kafka.BufferMemory),
		MaxRequestSize:  int(c.Int(kafka.MaxRequestSize)),
		MaxBlock:        c.Millis(kafka.MaxBlockMs),
		MaxInFlight:     int(c.Int(kafka.MaxInFlight)),
		Retries:         int(c.Int(kafka.Retries)),
		DeliveryTimeout: c.Millis(kafka.DeliveryTimeoutMs),
		RequestTimeout:  c.Millis(kafka.RequestTimeoutMs),
		Adaptive:        c.Bool(kafka.PartitionerAdaptive),
		Availability:    c.Millis(kafka.PartitionerAvailabilityMs),
		IgnoreKeys:      c.Bool(kafka.PartitionerIgnoreKeys),
		Compression:     codecs[c.Text(kafka.CompressionType)],
		Idempotence:     c.Bool(kafka.EnableIdempotence),
	}
}

// ClientConfig is the configuration of the client beneath a producer.
func ClientConfig(name string, bootstrap []string, c kafka.Config) client.Config {
	cfg := client.NewConfig(name, bootstrap, c)
	cfg.Network.MaxInFlight = int(c.Int(kafka.MaxInFlight))
	cfg.MetadataMaxIdle = c.Millis(kafka.ProducerMetadataIdleMs)
	return cfg
}
