// Package interop has tests that run clients written elsewhere against the real
// tidemark serve: franz-go, librdkafka (bundled with confluent-kafka-go, and as
// Debian's kcat). Only they can tell that protocol and bytes are Kafka's. It is a
// module of its own so that tidemark's stays small; .ci/interop runs it. Command peers,
// below, is what .ci/bench-serve measures tidemark beside.
package interop
