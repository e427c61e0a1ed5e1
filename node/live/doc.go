// Package live is the real driver of a node: it runs the same lanes as the
// simulator, over goroutines, sockets, files and clocks. No lane has a goroutine of
// its own: a crew of workers, as many as there are lanes, runs whichever lane has
// input. A request goes from lane to lane, and mostly one worker carries it all the
// way, because to wake another would cost more than the steps do. That worker is the
// goroutine which has read the request, if the request is small and its lane idle.
//
//	Post, sockets, timers, fsync workers
//	        │ input
//	        ▼
//	┌─ lane ───────────────────────────────────────────────┐   one worker at a time,
//	│ mailbox, timers ─▶ next ─▶ step ─▶ Process ─▶ Env     │   of as many as there are
//	└──────────────────────────────────────────────────────┘   lanes (crew), or a guest
//	        │ Send, Post, SetTimer, FS, Emit, Exit
//	        ▼
//	tcp.Host, other mailboxes, osdisk.Disk, sink
//
// What a lane may rely on is what package node promises and the simulator
// keeps: one callback at a time; Now and Wall sampled once for each; FIFO for
// each pair of lanes; a cancelled timer never fires; no call for a connection
// that the lane closed. Mailboxes are unbounded, because a post must not block;
// what fills them is bounded at the sockets.
//
// Everything that a lane can learn comes with an input, its clocks (next), or as
// an answer of env: a draw, what a file says. With Options.Record a tape of
// package recording stands between process and env and writes down what passes,
// one buffer for each lane. A lane writes its buffer to the file before it rests
// and whenever the buffer is large, so that a kill -9 takes no more than the
// callbacks that were running.
//
// Death is Kill, or a lane's Exit. From that instant no lane does anything more:
// the next operation of a running callback does not return. Connections close,
// the directory is released, nothing is synced: a kernel would do the same for
// a process that is gone.
package live
