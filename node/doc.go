// Package node is the port of tidemark: the one seam between Kafka's state
// machines and whatever drives them, a simulator or real threads, files and
// sockets.
//
// A node (a broker, a controller, a client) is a set of lanes that share a disk
// and a fate and nothing else, as Kafka's threads do. A lane is a Process: a
// state machine that takes one input at a time and acts only through its Env.
//
//	          Receive Posted Fire Synced Disconnected
//	               │      │    │     │        │
//	driver ────────┴──────┴────┴─────┴────────┘──▶ Process
//	       ◀─ Send Release Dial Close Post SetTimer FS Rand Emit Exit ─ Env
//
// Nothing in a Process waits, starts a goroutine, reads a clock or opens a
// file by itself, so one seed gives one run, and the code that the simulator
// breaks is the code that serves real clients.
package node
