package kafka

import (
	"fmt"
	"math"
	"slices"
)

// The keys that tidemark's producer and consumer share.
const (
	ClientID                = "client.id"
	RequestTimeoutMs        = "request.timeout.ms"
	RetryBackoffMs          = "retry.backoff.ms"
	RetryBackoffMaxMs       = "retry.backoff.max.ms"
	ReconnectBackoffMs      = "reconnect.backoff.ms"
	ReconnectBackoffMaxMs   = "reconnect.backoff.max.ms"
	SocketSetupTimeoutMs    = "socket.connection.setup.timeout.ms"
	SocketSetupTimeoutMaxMs = "socket.connection.setup.timeout.max.ms"
	MetadataMaxAgeMs        = "metadata.max.age.ms"
	RebootstrapTriggerMs    = "metadata.recovery.rebootstrap.trigger.ms"
)

// The producer keys.
const (
	Acks                      = "acks"
	EnableIdempotence         = "enable.idempotence"
	BatchSize                 = "batch.size"
	LingerMs                  = "linger.ms"
	BufferMemory              = "buffer.memory"
	MaxRequestSize            = "max.request.size"
	MaxBlockMs                = "max.block.ms"
	MaxInFlight               = "max.in.flight.requests.per.connection"
	Retries                   = "retries"
	DeliveryTimeoutMs         = "delivery.timeout.ms"
	ProducerMetadataIdleMs    = "metadata.max.idle.ms"
	PartitionerAdaptive       = "partitioner.adaptive.partitioning.enable"
	PartitionerAvailabilityMs = "partitioner.availability.timeout.ms"
	PartitionerIgnoreKeys     = "partitioner.ignore.keys"
)

// The consumer keys; fetch.max.bytes is FetchMaxBytes.
const (
	AutoOffsetReset        = "auto.offset.reset"
	IsolationLevel         = "isolation.level"
	FetchMinBytes          = "fetch.min.bytes"
	FetchMaxWaitMs         = "fetch.max.wait.ms"
	MaxPartitionFetchBytes = "max.partition.fetch.bytes"
	MaxPollRecords         = "max.poll.records"
	CheckCRCs              = "check.crcs"
)

const bothClients = ProducerScope | ConsumerScope

var _ = define(
	Definition{Key: ClientID, Type: TextType, Scope: bothClients, Doc: "name in request headers; the client's own name unless given"},
	number(bothClients, RequestTimeoutMs, "30000", 1, maxInt32, "ms after which a request is given up and its connection closed"),
	number(bothClients, RetryBackoffMs, "100", 0, maxInt64, "ms before the first retry; doubles with each one, plus or minus 20 %"),
	number(bothClients, RetryBackoffMaxMs, "1000", 0, maxInt64, "most ms before a retry"),
	number(bothClients, ReconnectBackoffMs, "50", 0, maxInt64, "ms between the first attempts to connect to a node; doubles with each failure"),
	number(bothClients, ReconnectBackoffMaxMs, "1000", 0, maxInt64, "most ms between attempts to connect to a node"),
	number(bothClients, SocketSetupTimeoutMs, "10000", 1, maxInt64, "ms that the set-up of a connection may take at first"),
	number(bothClients, SocketSetupTimeoutMaxMs, "30000", 1, maxInt64, "most ms that the set-up of a connection may take"),
	number(bothClients, MetadataMaxAgeMs, "300000", 0, maxInt64, "ms after which metadata is asked for again"),
	number(bothClients, RebootstrapTriggerMs, "300000", 0, maxInt64, "ms without a metadata answer after which the bootstrap addresses are used again (KIP-1102)"),
)

var _ = define(
	choice(ProducerScope, CompressionType, "codec of the batches that are sent", []string{"none", "gzip", "snappy", "lz4", "zstd"}),
	choice(ProducerScope, Acks, "replicas that must have a record before it is acknowledged: all (or -1), 1 the leader, 0 none", []string{"all", "-1", "0", "1"}),
	flag(ProducerScope, EnableIdempotence, "true", "whether retries may neither duplicate nor reorder records; needs acks=all, retries and at most 5 requests in flight"),
	number(ProducerScope, BatchSize, "16384", 0, maxInt32, "bytes of a batch; a larger record gets a batch of its own"),
	number(ProducerScope, LingerMs, "5", 0, maxInt64, "ms that a batch waits for company"),
	number(ProducerScope, BufferMemory, "33554432", 0, maxInt64, "bytes of all batches that are not done"),
	number(ProducerScope, MaxRequestSize, "1048576", 0, maxInt32, "bytes of a produce request and of a record; one batch always fits"),
	number(ProducerScope, MaxBlockMs, "60000", 0, maxInt64, "ms that a send waits for metadata and memory"),
	number(ProducerScope, MaxInFlight, "5", 1, maxInt32, "unanswered requests on a connection; 1 keeps the order of records over retries"),
	number(ProducerScope, Retries, "2147483647", 0, maxInt32, "retries of a batch within delivery.timeout.ms"),
	number(ProducerScope, DeliveryTimeoutMs, "120000", 0, maxInt32, "ms from send to the final answer, retries included"),
	number(ProducerScope, ProducerMetadataIdleMs, "300000", 5000, maxInt64, "ms after which the metadata of an unused topic is forgotten"),
	flag(ProducerScope, PartitionerAdaptive, "true", "whether records without key prefer partitions with short queues (KIP-794)"),
	number(ProducerScope, PartitionerAvailabilityMs, "0", 0, maxInt64, "ms without progress after which a leader's partitions are avoided; 0 never"),
	flag(ProducerScope, PartitionerIgnoreKeys, "false", "whether records with a key are placed as if they had none"),
)

var _ = define(
	choice(ConsumerScope, AutoOffsetReset, "where to go on when the position is gone", []string{"latest", "earliest", "none"}),
	choice(ConsumerScope, IsolationLevel, "which records are returned: all that are replicated, or of transactions the committed ones alone", []string{"read_uncommitted", "read_committed"}),
	number(ConsumerScope, FetchMinBytes, "1", 0, maxInt32, "bytes that a fetch waits for"),
	number(ConsumerScope, FetchMaxWaitMs, "500", 0, maxInt32, "ms that a broker may hold a fetch"),
	number(ConsumerScope, FetchMaxBytes, "52428800", 0, maxInt32, "bytes of a fetch answer; the first batch always fits"),
	number(ConsumerScope, MaxPartitionFetchBytes, "1048576", 0, maxInt32, "bytes of one partition in a fetch answer; the first batch always fits"),
	number(ConsumerScope, MaxPollRecords, "500", 1, math.MaxInt32, "records that one poll returns"),
	flag(ConsumerScope, CheckCRCs, "true", "whether the CRC-32C of fetched batches is checked"),
)

// mostInFlight is how many requests may be in flight with idempotence: as many
// batches as a broker remembers of each producer (KAFKA-5494).
const mostInFlight = 5

// idempotenceLacks says which setting idempotence needs that c does not have;
// "" if it may be on.
func (c Config) idempotenceLacks() string {
	switch {
	case c.Text(Acks) != "all" && c.Text(Acks) != "-1":
		return Acks + "=all"
	case c.Int(Retries) == 0:
		return Retries + " above 0"
	case c.Int(MaxInFlight) > mostInFlight:
		return fmt.Sprintf("%s of at most %d", MaxInFlight, mostInFlight)
	}
	return ""
}

// NewProducerConfig is NewConfig for a producer, with the rules that bind
// several settings. Idempotence that other settings do not allow is an error if
// it was asked for, and off if it was on by default alone (KIP-679).
// delivery.timeout.ms that is shorter than linger.ms and request.timeout.ms
// together is an error if it was given, else it is raised to their sum.
func NewProducerConfig(pairs ...Pair) (Config, error) {
	c, err := NewConfig(ProducerScope, pairs...)
	if err != nil {
		return Config{}, err
	}
	if lacks := c.idempotenceLacks(); lacks != "" && c.Bool(EnableIdempotence) {
		if c.Set(EnableIdempotence) {
			return Config{}, fmt.Errorf("%s: true needs %s", EnableIdempotence, lacks)
		}
		pairs = append(slices.Clone(pairs), Pair{EnableIdempotence, "false"})
		if c, err = NewConfig(ProducerScope, pairs...); err != nil {
			return Config{}, err
		}
	}
	least := min(saturatingAdd(c.Int(LingerMs), c.Int(RequestTimeoutMs)), maxInt32)
	if c.Int(DeliveryTimeoutMs) >= least {
		return c, nil
	}
	if c.Set(DeliveryTimeoutMs) {
		return Config{}, fmt.Errorf("%s: %d is too short: %s plus %s, which is %d, is needed at least",
			DeliveryTimeoutMs, c.Int(DeliveryTimeoutMs), LingerMs, RequestTimeoutMs, least)
	}
	return NewConfig(ProducerScope, append(slices.Clone(pairs), Pair{DeliveryTimeoutMs, fmt.Sprint(least)})...)
}

// NewConsumerConfig is NewConfig for a consumer.
func NewConsumerConfig(pairs ...Pair) (Config, error) { return NewConfig(ConsumerScope, pairs...) }

func saturatingAdd(a, b int64) int64 {
	if a > maxInt64-b {
		return maxInt64
	}
	return a + b
}
