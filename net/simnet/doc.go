// Package simnet is a passive model of TCP connections: it answers whether and
// when bytes arrive, and whoever drives it does the waiting.
//
// Kafka stands on connections, not on datagrams: what one end writes arrives
// whole and in order, or late, or the connection dies and a suffix is lost.
// Every fault here keeps that promise, because a bug that needs a reordered or
// vanished message in the middle of a connection is no bug of Kafka's.
//
//	dialler                              acceptor
//	   ├─ pipe[Dialler] : syn data data fin ─▶│   head of the queue moves at
//	   │◀─ pipe[Acceptor]: syn-ack data ...  ─┤   max(written, open) + delay
//
// A connection has two pipes, one for each direction. Only the head of a pipe
// moves; what blocks the head blocks all that is behind it:
//
//	cut       the link drops packets: TCP sends again, so the head arrives after
//	          the heal. A dial hangs until the heal or the connect timeout.
//	hold      a chosen message is kept until it is released
//	off       the receiver's machine has no power; on its return it knows nothing
//	          of the connection and answers with a reset
//	muted     the acceptor has a request in work and reads no further
//	unwritten the bytes are still being read from the sender's disk
//
// An end that is closed in silence (half-open, power loss) is noticed by its
// peer only by the reset that answers the peer's next message.
//
// Instants are nanoseconds; nodes are numbers that mean nothing here.
package simnet
