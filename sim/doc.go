// Package sim is the World: it runs the lanes of a whole cluster from one seed,
// in simulated time, and can break every part of it at any instant.
//
// A run is a function of its seed and its faults. Everything that happens is an
// event in one queue, ordered by instant and then by the order of its making;
// nothing else decides what comes next. So a failure that took a week to find
// takes a moment to see again.
//
//	 queue (instant, seq)          machine: disk, clock, power
//	┌────────────────────┐         ┌─ life ────────────────────────────┐
//	│ pump a connection  │         │ lane: mailbox → Process → Env     │
//	│ timer due          │ ──────▶ │ lane: mailbox → Process → Env     │
//	│ sync complete      │         └───────────────────────────────────┘
//	│ post, emit, write  │ ◀─────── effects, each stamped start + cost so far
//	└────────────────────┘
//
// Time: a callback runs whole at its start instant. Its base cost and the cost
// of its disk operations make it busy until later, and each of its effects is
// stamped with the cost so far. A lane is busy alone: a disk that stalls under
// one lane holds up no other.
//
// Death: a process that dies at T never did what is stamped after T, although
// its callback ran. Messages, posts, timers, syncs and trace events stamped
// later are dropped; page-cache writes stand, as they do in a kernel. That is
// why a follower whose disk stalls and that is killed meanwhile has
// acknowledged nothing.
//
// Chance: every draw comes from a named stream, a hash of (seed, node, life,
// lane, site, ordinal), so a new draw at one place moves no other.
//
// The trace is sorted: a trace event is handed to observers at its stamp, not
// at its callback's start.
package sim
