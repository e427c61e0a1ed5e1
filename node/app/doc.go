// Package app is the applications of a run: what a plan's workload steps ask
// for, done with a real producer or consumer, and told as the client history
// that the checker judges Kafka by.
//
// A client node has one lane. The driver posts it plan steps; each becomes work
// that goes on by itself, so a step never waits for the one before it. A client
// is a producer, a consumer, or (the admin) neither.
//
//	plan.Step ─▶ topic, elect ─▶ admin client ─▶ CreateTopics, ElectLeaders
//	             send, write  ─▶ producer ─▶ SendInvoke, then SendOK | SendFail | SendUnknown
//	             read, verify ─▶ consumer ─▶ PollOK, PositionReset, TruncationDetected
//
// Every record carries the id of its attempt in a header, so that a reader's
// history names the very send that it saw, whatever the producer retried
// beneath it. The id begins with the client's node: a record that a client of an
// earlier run left in the log names none of this run's nodes and is told as foreign.
package app
