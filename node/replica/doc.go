// Package replica is one replica of one partition, as leader and as follower.
//
// This is the part of Kafka that decides what an acknowledged record is worth.
// A record is committed once every replica of the in-sync set has it; the high
// watermark is the line above the last committed record; the leader epoch tells
// which leader wrote a record, so that logs which parted can be cut where they
// parted. Each file holds one idea, in the order of the steps that Kafka takes:
//
//	metadata ─▶ leader.go, follower.go        which role, from which leader epoch
//	produce  ─▶ produce.go                    append ─▶ high watermark
//	fetch    ─▶ fetch.go                      fence ─▶ diverge ─▶ read ─▶
//	            follower_state.go                 state ─▶ expand ─▶ high watermark
//	            isr.go, high_watermark.go
//	timer    ─▶ isr.go                        shrink
//	answer   ─▶ isr.go                        AlterPartition ─▶ high watermark
//	look-up  ─▶ list_offset.go, epoch_end.go
//
//	purgatory.go, delayed_*.go                requests that wait for the above
//	fetcher*.go, truncation.go,               the follower's side of fetch
//	out_of_range.go
//
// The offsets of one replica, left to right:
//
//	log start ──── high watermark ──── log end offset
//	    │  committed      │   not yet committed   │
//	                                              ▲ epoch start, when leadership begins
//
// A Partition belongs to one lane and is called by it alone. It speaks domain
// types: whoever owns it turns requests of the protocol into calls, and keeps
// the timers.
package replica
