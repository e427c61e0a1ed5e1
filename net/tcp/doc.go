// Package tcp carries Kafka's protocol over real sockets: it accepts, dials,
// frames, decodes and encodes, and tells a Handler what came.
//
// The port of package node promises a lane that a connection has one request in
// work, that responses go out in the order of requests, and that memory stays
// bounded whatever a client does. All three follow from one rule: the next request
// is handed over only when the response to the last one is in the socket, as
// Kafka's network thread mutes the channel.
//
//	accepted   reader:  read frame ─▶ decode ─▶ wait for its turn ─▶ Received ─▶ next frame
//	           Send:    encode ─▶ socket ─┬────────────▶ hands over the frame that waits
//	                                      └▶ does not take it all, or regions on disk: a goroutine
//	dialled    Send:    encode ─▶ socket ─┬────────────▶ reader ─▶ pair ─▶ Received
//	                                      └▶ does not take it all: queue ─▶ writer
//
// A processor that sleeps and is woken for every step is what a request costs most, so
// a request crosses from goroutine to goroutine as seldom as can be. Whoever sends
// writes it himself, as to wake another goroutine for it costs more than the system
// call. The handler may do the work of a request within Received, on the reader's
// goroutine: then there is no crossing from the socket to the response. If it leaves
// the work to others the reader goes on and is one request ahead, so that reading and
// work overlap.
//
// A client that pipelines finds all but one of its next requests in its own socket
// buffers. A client that does not read stops itself, and is cut off after WriteTimeout. On
// the dialling side requests are pipelined: whoever sends bounds them, as
// max.in.flight.requests.per.connection does.
//
// # Memory
//
// A frame has at most socket.request.max.bytes. Frames above 64 KiB take part
// in a budget for all connections together (queued.max.request.bytes) until they
// are answered; who finds it empty waits. Smaller ones are bounded
// by two for each connection and never wait: a follower's fetch must get
// through when producers have filled the budget, or their acks=all requests
// would wait for it for ever.
//
// Kafka's NetworkReceive takes the memory of a request when its size field has come,
// and so a few clients that announce 100 MiB and send nothing hold up everybody else
// until connections.max.idle.ms has passed. Here memory follows what was sent, in three
// rules:
//
//   - A request holds at most 32 times what it has sent, but for the next rule, and
//     nothing of the budget before that is 64 KiB (a 32nd of it, if it is smaller than
//     2 MiB). Its memory
//     grows in steps; up to 2 MiB there is one, which copies a 32nd.
//   - Who waits for the next step holds the last one, so requests half read could wait
//     for each other for ever. Steps are therefore given only while the largest frame
//     still fits into what they leave. When less is free the first in line gets all
//     that its frame needs, or waits. Who got that needs no more, whoever else waits,
//     and what it gives back brings the room for the next.
//   - While others wait, a request must bring a 32nd of what it holds every
//     10 seconds, or its connection is closed with ErrStalled. That is slow enough for
//     a crowd: all that share a full budget of 512 MiB need 1.6 MiB/s together. When
//     nobody waits only the idle limit counts, and time in line counts for neither.
//
// The memory of a Produce is used again once it is answered: its records are on
// their way to the disk by then, as the port promises, and to touch new memory for
// each batch takes longer than all that a broker does with it. Other requests' is
// not. Their bodies alias the frame and may outlive the request (a group keeps its
// members' metadata), and only the collector knows when the last alias is gone.
//
// # Regions
//
// The record bytes of a Fetch response are read at the socket write, 256 KiB at
// a time, into the buffer that already holds the bytes before them, and written
// from there. A response whose regions are small and in the page cache is written at
// once like any other: followers live on such. On loopback (BenchmarkFileToSocket) that is faster than sendfile up
// to 1 MiB, a partition's usual share of a fetch, level with it at 8 MiB, and
// never far from writev of separate pieces. It asks nothing of the file but a
// read, and so serves every disk alike. A region that cannot be read any more
// resets the connection: the size field has promised its bytes.
package tcp
