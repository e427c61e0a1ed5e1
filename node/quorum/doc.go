// Package quorum is KRaft (KIP-595): it replicates __cluster_metadata, the log
// of everything the controller decides, from its leader to every node.
//
// The metadata log is not replicated like other partitions, because there is
// no controller below it to say who is in sync. Its followers elect the leader
// themselves, and a record counts once it is synced to the disks of a majority.
// So, unlike elsewhere in Kafka, a power loss everywhere loses nothing that was
// committed (E5, K1), and every acknowledgement here waits for an fsync:
//
//	controller          Raft                          disk
//	   │ Append ──────────▶│ (linger) one batch ──────▶ append
//	   │                   │                            fsync
//	   │                   │ ◀────────── Synced ────────┘
//	   │ ◀─ HandleCommit ──│ high watermark := synced end, and what a parked
//	   │                   │ Fetch waits for is answered
//
// What is here is the quorum of one voter, which elects itself, and its
// observers, the brokers. Their exchange is Kafka's: a Fetch that carries the
// epoch of its last record, an answer that says where the logs diverge. A new
// epoch begins with a LeaderChange record of its own, and nothing is exposed
// before that record is committed (K4), which matters as soon as a leader
// counts acknowledgements of older epochs.
//
//	at start, by the persisted state         voter
//	Unattached / Follower / Resigned ──▶ Candidate ──▶ Leader ──(stop)──▶ Resigned
//	                                     epoch + 1
//
//	at start                                 observer
//	Unattached ──(an answer names the leader)──▶ Follower
package quorum
