// Package recording is the record of what the lanes of a node were given and
// what they did with it: the file, and the Tape that stands between a lane and
// its driver.
//
// It is the proof that the port is true. A lane is a function of its inputs, so
// the same inputs must give the same effects under any driver. In real mode a
// Tape writes both down; in the simulator another Tape stands in the same place,
// over a driver that answers from the recording, and what it writes must be equal
// byte for byte.
//
//	lane ── Env, FS ──▶ Tape ──▶ driver           lane ── Env, FS ──▶ Tape ──▶ replay
//	                     │ steps                                       │ steps
//	                     ▼                                             ▼
//	                  recording ───────────────────────────────▶ equal bytes?
//
// A callback is its input (which call, clocks, and what was delivered), then a
// step for each use of Env and FS in order: what was asked and what was answered.
// What a lane sent, wrote or read is there as a digest of the bytes; what it
// could not know is there in full: frames, draws, errors, the listing of the root
// directory, which belongs to all lanes. A post is only named, sender and
// ordinal: the replay makes it again.
//
// The file is a magic number and chunks, each one write, so that a kill -9
// leaves whole chunks and at most a torn last one:
//
//	chunk   │ length 4 │ CRC-32C of payload 4 │ CRC-32C of these eight 4 │ payload │
//	payload │ kind 1 │ node │ ... by kind
//	lane    │ kind 1 │ node │ lane 1 │ callbacks: length 4, callback │
//	callback│ kind 1, top bit: death cut it short │ now │ wall │ input │ steps │
//
// Numbers without a width are varints. Integers are big-endian.
package recording
