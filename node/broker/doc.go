// Package broker composes a Kafka node, broker or controller, out of lanes:
// state machines that share a disk and a fate, as Kafka's thread groups do.
//
// The split follows what may stop what in Kafka. A disk that hangs stops the
// partitions on it, but not the heartbeats, so the broker stays registered and
// its partitions keep their leader; a client that sends nothing stops nobody.
//
//	           clients, followers                     active controller
//	                  │                                  ▲         ▲
//	              PLAINTEXT              heartbeat, AlterPartition, Envelope
//	                  ▼                                  │         │ Fetch
//	┌────────┐  shares, answers   ┌───────────┐  ISR  ┌──┴────────┐│
//	│ router │◀──────────────────▶│ data-0..n │──────▶│ lifecycle ││
//	└────────┘                    └─────┬─────┘       └───────────┘│
//	     ▲     ▲                 ▲      │ offsets        ▲     ▲   │
//	     │     └──── images ─────┼──────┼────────────────┼─────┤   │
//	     │                       │      ▼                │   ┌─┴───┴──┐
//	     │                       │   ┌──────┐ directory  │   │ quorum │
//	     │                       └───│ logs │────────────┘   └────────┘
//	     │                     load  └──────┘                    ▲
//	 parked fetches,            checkpoints,                __cluster_metadata
//	 fetch sessions             clean marker
//
// Each file api_*.go is one API key; posts.go has everything that lanes say to
// each other. Message bodies are kmsg's; beneath the lanes, storage, replica
// and quorum speak domain types alone.
package broker
