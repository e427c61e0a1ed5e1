package kafka

import (
	"fmt"
	"strconv"
	"strings"
)

// The keys of the log cleaner, besides those in which a topic says how long it
// keeps what.
const (
	MinCleanableDirtyRatio            = "min.cleanable.dirty.ratio" // topic
	LogCleanerEnable                  = "log.cleaner.enable"
	LogCleanerDedupeBufferSize        = "log.cleaner.dedupe.buffer.size"
	LogCleanerLoadFactor              = "log.cleaner.io.buffer.load.factor"
	LogCleanerIOBufferSize            = "log.cleaner.io.buffer.size"
	LogCleanerIOMaxBytesPerSec        = "log.cleaner.io.max.bytes.per.second"
	LogCleanerBackoffMs               = "log.cleaner.backoff.ms"
	logCleanerMinCleanableRatio       = "log.cleaner.min.cleanable.ratio"
	minDedupeBuffer                   = 1<<20 + 1 // Kafka wants more than 1 MiB a thread
	millionths                        = 6         // decimal places of a ratio
	oneRatio                    int64 = 1_000_000
)

var _ = define(
	flag(BrokerScope, LogCleanerEnable, "true", "whether compacted topics are compacted"),
	number(BrokerScope, LogCleanerDedupeBufferSize, "134217728", minDedupeBuffer, maxInt64, "bytes of the cleaner's maps from keys to offsets, 24 a key"),
	ratio(BrokerScope, LogCleanerLoadFactor, "0.9", "how full the cleaner's map may get"),
	number(BrokerScope, LogCleanerIOBufferSize, "524288", 0, maxInt32, "bytes that the cleaner reads and writes at a time, together"),
	number(BrokerScope, LogCleanerIOMaxBytesPerSec, maxInt64Str, 1, maxInt64, "bytes that the cleaner reads and writes in a second, together"),
	number(BrokerScope, LogCleanerBackoffMs, "15000", 0, maxInt64, "ms that the cleaner waits when no log wants cleaning"),
	ratio(BrokerScope, logCleanerMinCleanableRatio, "0.5", "default of min.cleanable.dirty.ratio"),

	ratio(TopicScope, MinCleanableDirtyRatio, "0.5", "part of a log that must be dirty before it is compacted").behind(logCleanerMinCleanableRatio),
)

// ratio is a key that takes a decimal number from 0 to 1.
func ratio(scope Scope, key, def, doc string) Definition {
	return Definition{Key: key, Type: RatioType, Default: def, Scope: scope, Doc: doc}
}

// Ratio is the effective value of a RatioType in millionths, 0 to 1,000,000.
func (c Config) Ratio(key string) int64 {
	r, err := parseRatio(c.Text(key))
	if err != nil {
		panic("configuration key " + key + " is not a ratio")
	}
	return r
}

// parseRatio reads a decimal number from 0 to 1 in millionths; more places than
// six do not fit.
func parseRatio(text string) (int64, error) {
	whole, places, _ := strings.Cut(text, ".")
	if len(places) > millionths || whole+places == "" {
		return 0, fmt.Errorf("%q is not a number with at most %d decimal places", text, millionths)
	}
	r, err := strconv.ParseUint(whole+places+strings.Repeat("0", millionths-len(places)), 10, 63)
	if err != nil {
		return 0, err
	}
	if int64(r) > oneRatio {
		return 0, fmt.Errorf("%q is more than 1", text)
	}
	return int64(r), nil
}
