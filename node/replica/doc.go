// Package replica is one replica of one partition, as leader and as follower.
//
// This is the part of Kafka that decides what an acknowledged record is worth. A
// record is committed once every replica that must have it has it: every member
// of the in-sync set (ISR), of the set that the leader has proposed and not yet
// heard back about (together: the maximal ISR), and whoever is about to join.
// The high watermark is the line above the last committed record; the leader
// epoch tells which leader wrote a record, so that logs which parted can be cut
// where they parted.
//
// Read it in this order, which is also the order of Kafka's own steps:
//
//	 1 partition.go        what a replica knows (host.go: whom it asks; trace.go: what it tells)
//	 2 produce.go          a record arrives: append ─▶ high watermark
//	 3 remote.go           what the leader knows of each follower
//	 4 fetch.go            a follower asks: fence ─▶ diverge ─▶ read ─▶
//	   epoch_end.go            (where an epoch ended)
//	 5 follower_state.go       ─▶ state ─▶
//	 6 isr.go                  ─▶ expand; shrink by timer; the controller's answer
//	 7 high_watermark.go       ─▶ high watermark
//	 8 leader.go           becoming leader: the epoch begins
//	   follower.go         becoming follower: where to start from
//	 9 fetcher*.go         the follower's side of a fetch
//	   truncation.go           cutting what the leader never had
//	   out_of_range.go         when the logs do not even overlap
//	10 list_offset.go,     what clients ask
//	   delete_records.go
//	   purgatory.go,       requests that wait for any of the above
//	   delayed_*.go
//
// The loss of story R1 is one decision: startFollowing in follower.go asks
// rules.StartFollowing where a new follower's log must end. The old answer was
// its high watermark.
//
// The offsets of one replica, left to right:
//
//	log start ── last stable ── high watermark ──── log end offset
//	    │      committed              │   not yet committed   │
//	                    ▲ the oldest transaction              ▲ the epoch start: where the log ended
//	                      that is not decided                   when the present leadership began
//
// A Partition belongs to one lane (a single-threaded state machine of its broker,
// see package node) and is called by it alone. It speaks domain
// types: whoever owns it turns requests of the protocol into calls, and keeps
// the timers.
package replica
