// Package client is what every Kafka client has beneath its producer or
// consumer: connections, metadata, and the requests as domain calls.
//
// Producer and consumer must not care which broker leads a partition, whether
// its connection is up, or which version of a request it speaks. They ask the
// Client for a partition's leader, hand it a call for that broker and get the
// answer, or one Kafka error code, in a function that runs exactly once.
//
//	producer, consumer, admin
//	     │ Produce Fetch ListOffsets …      ▲ results, error codes
//	     ▼                                  │
//	  Client ── metadata (leaders by epoch, refresh, rebootstrap)
//	     │
//	  network ── a peer per node: idle ─▶ set-up ─▶ ready ─▶ idle …
//	     │                                 │ ApiVersions      (back-off)
//	  node.Env                             └ at most max.in.flight unanswered
//
// Nothing here waits. Every entry point returns at once; results come when the
// host hands Receive, Disconnected or a timer in.
package client
