// Package replay runs the lanes of recorded nodes again, over a simulated disk,
// and compares what they do with what they did.
//
// A recording (package recording) has been made by the real driver. Here the same
// lanes get the same inputs and every answer that they could not compute; all
// else they do again themselves: posts go from lane to lane, writes go to a disk
// in memory and are read back from there, identifiers are counted anew. A tape
// in front of each lane compares every step, byte for byte.
//
//	recording ──▶ queue of each lane ──▶ Process ──▶ Tape ──▶ driver ──▶ simdisk
//	                    ▲ ready?                      │         │
//	                    └──────── posts ──────────────┼─────────┘
//	                                                  ▼
//	                                       equal, or the first Difference
//
// Lanes share nothing but posts and the root directory, so the order between
// lanes does not matter beyond that a post is made before it is delivered. A
// callback that delivers one waits until the replay has made it.
package replay
