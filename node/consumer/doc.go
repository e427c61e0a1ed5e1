// Package consumer is Kafka's consumer with manual assignment as a state
// machine: it keeps a position for each partition, fetches from there, and
// finds out when the log below the position was cut.
//
// A position is more than an offset. It carries the leader epoch of the last
// record and the leader that it was checked against, because after an unclean
// election the same offset may hold another record: the consumer that compares
// offsets alone reads on and never knows what it missed (KIP-320).
//
//	                 ┌──────────── Seek ────────────────┐
//	                 ▼                                  │
//	initializing ─▶ awaiting reset ── ListOffsets ─▶ fetching ◀─┐
//	                 ▲                                  │ leader │ end ≥ position
//	                 │ end unknown, out of range        │ changed│ end < position: seek
//	                 └──────────────────────── awaiting validation
//	                                           (OffsetsForLeaderEpoch)
//
// Fetches go one at a time to each broker, in incremental sessions (KIP-227).
// The position moves when records are returned, never when they arrive, so what
// was fetched for a position that moved meanwhile is dropped.
package consumer
