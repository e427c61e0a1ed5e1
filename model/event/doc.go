// Package event is the trace of a run: one schema, one encoding, one rolling
// digest.
//
// A trace opens with Profile events (every effective setting), because a
// checker that does not know the configuration cannot tell a broken promise
// from a price that the user agreed to pay. Two layers follow in one order:
//
//   - the client history (Send…, Poll…, Reset): what applications asked and
//     were told. It alone must suffice to judge what Kafka promised them.
//   - the white box: what nodes, disks and the network did. Nodes are not
//     believed about themselves; Audit events are read by the World from the
//     segments on disk.
//
// Events are flat values, so that emitting one allocates nothing but its lists.
// On disk a trace is JSON lines; a field at its unset value is left out:
//
//	{"seq":9,"t_ns":2000000,"kind":"elected","node":101,"topic":"t","partition":0,"peer":1,"epoch":3,"isr":[1,2],"text":"clean"}
//
// Digest says in 64 bits whether two runs were the same run; View is the state
// that the events told so far.
package event
