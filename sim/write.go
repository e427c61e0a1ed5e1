package sim

import (
	"bytes"
	"fmt"

	"tidemark/model/event"
	"tidemark/net/simnet"
	"tidemark/net/wire"
	"tidemark/node"
)

// write is a sent message that somebody looks at again: the connection's
// writer, who reads its regions, or the check of VerifyBodies.
type write struct {
	lane    *lane
	message *node.Message
	sum     uint64 // of the frame at Send, holes empty
	conn    simnet.Conn
	ticket  simnet.Ticket
}

// smallFrame is up to which size frames share an allocation of chunkSize: few
// enough bytes that a kept one does not keep much else alive.
const (
	smallFrame = 1 << 10
	chunkSize  = 16 << 10
)

// encode makes a message's frame in memory of its own: the receiver's body
// aliases it.
func (w *World) encode(m *node.Message) []byte {
	var err error
	if w.scratch, err = wire.Encode(m, w.scratch[:0]); err != nil {
		panic(err.Error())
	}
	n := len(w.scratch)
	if n > smallFrame {
		return bytes.Clone(w.scratch)
	}
	if cap(w.chunk)-len(w.chunk) < n {
		w.chunk = make([]byte, 0, chunkSize)
	}
	at := len(w.chunk)
	w.chunk = append(w.chunk, w.scratch...)
	return w.chunk[at : at+n : at+n]
}

func sum(frame []byte) uint64 {
	var d event.Digest
	d.Bytes(frame)
	return d.Sum()
}

// reserve takes a message's place in the stream and asks for the socket write.
func (w *World) reserve(l *lane, c *connEnd, m *node.Message) {
	x := w.writes.put(write{lane: l, message: m, sum: sum(w.layout(m)), conn: c.net,
		ticket: w.net.Reserve(c.net, c.side, w.stamp(), m.Key(), true)})
	w.schedule(entry{at: w.stamp(), kind: evWrite, lane: l.index, life: l.m.life, x: x})
}

// layout is a message's frame with empty holes, in the scratch buffer.
func (w *World) layout(m *node.Message) []byte {
	var err error
	if w.scratch, w.holes, err = wire.Layout(m, w.scratch[:0], w.holes[:0]); err != nil {
		panic(err.Error())
	}
	return w.scratch
}

// writeSocket is the connection's writer at work: it reads the regions, pays for
// cold reads, and only then lets the acceptor read its next request. A region
// that is short or whose file is closed resets the connection, because the size
// field has promised its bytes.
func (w *World) writeSocket(x uint64) {
	t := w.writes.take(x)
	if !w.net.Holds(t.conn, simnet.Acceptor) {
		release(t.message.Regions)
		return
	}
	frame := bytes.Clone(w.layout(t.message))
	w.unchanged(t.lane, t.message, frame, t.sum)
	w.start, w.cost = w.now, 0
	err := wire.Fill(frame, w.holes)
	release(t.message.Regions)
	if err != nil {
		e := event.New(event.Effect)
		e.Node, e.Text = t.lane.m.cfg.ID, "socket write reset: "+err.Error()
		w.trace(&e)
		w.net.Abort(t.conn, simnet.Acceptor, w.stamp())
		w.disconnect(t.conn, simnet.Acceptor)
		return
	}
	w.net.Write(t.conn, simnet.Acceptor, t.ticket, frame, w.stamp())
	w.net.Resume(t.conn, w.stamp())
}

// verifyBody is the check of VerifyBodies.
func (w *World) verifyBody(x uint64) {
	t := w.writes.take(x)
	w.unchanged(t.lane, t.message, w.layout(t.message), t.sum)
}

// unchanged stops the run if a body was written after Send: in real mode another
// thread may be encoding it.
func (w *World) unchanged(l *lane, m *node.Message, frame []byte, want uint64) {
	if sum(frame) != want {
		w.fail(l, fmt.Sprintf("a message (key %d, correlation id %d) was written to after Send", m.Key(), m.CorrelationID))
	}
}
