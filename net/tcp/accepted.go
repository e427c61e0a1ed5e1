package tcp

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"tidemark/net/wire"
	"tidemark/node"
)

// accepted is the broker's end of a connection.
type accepted struct {
	host    *Host
	nc      net.Conn
	prompt  *prompt // writes to nc; nil if nc cannot
	handler Handler
	patient *patient // nc as frames reads it
	frames  *frameReader
	closed  chan struct{} // Close was called

	mu      sync.Mutex
	changed sync.Cond // for the reader: next was taken, work or writing ended
	next    *request  // was read and waits for its turn
	work    *request  // waits for Send or Release
	writing bool      // a response is on its way into the socket
	since   time.Time // the connection owes the next request, if none is here
	closing bool
	gone    bool
	failed  error // the first error of a write
}

// request is one request from its first byte to its response.
type request struct {
	message *node.Message
	frame   []byte
	share   int   // of the budget, bytes
	key     int16 // the message belongs to the handler once it has it
	id      int32 // correlation id
}

func newAccepted(h *Host, nc net.Conn) *accepted {
	c := &accepted{host: h, nc: nc, prompt: newPrompt(nc), closed: make(chan struct{}), since: time.Now()}
	c.patient = &patient{c: c}
	c.frames = newFrameReader(c.patient, h.cfg.MaxFrame)
	c.changed.L = &c.mu
	return c
}

// errClosed ends the loop of a connection that its owner closed.
var errClosed = errors.New("closed")

// serve is the goroutine of the connection, its reader.
func (c *accepted) serve() {
	err := c.patient.wait()
	for err == nil {
		err = c.read()
	}
	err, tell := c.end(err)
	c.nc.Close()
	if tell {
		c.handler.Lost(err)
	}
}

// read reads the next request and waits until its turn has come.
func (c *accepted) read() error {
	size, err := c.frames.size()
	if err != nil {
		return err
	}
	r := &request{}
	if size > smallFrame {
		err = c.body(r, size)
	} else {
		r.frame, err = c.frames.frame(size)
	}
	if err == nil {
		r.message, err = wire.DecodeRequest(r.frame)
	}
	if err == nil {
		r.key, r.id = r.message.Key(), r.message.CorrelationID
		err = c.offer(r)
	}
	if err != nil {
		c.host.budget.give(r.share)
	}
	return err
}

// offer hands r over, now or when the response to the request before it is in the
// socket; then whoever wrote that does it.
func (c *accepted) offer(r *request) error {
	c.mu.Lock()
	c.next = r
	mine := c.take()
	for c.next != nil && !c.closing && c.failed == nil {
		c.changed.Wait()
	}
	over := c.next != nil
	c.mu.Unlock()
	if over {
		return errClosed
	}
	c.receive(mine)
	return nil
}

// take makes the request that waits the one in work, if its turn has come; whoever
// takes it hands it over. The caller has c.mu.
func (c *accepted) take() *request {
	if c.next == nil || c.work != nil || c.writing || c.closing || c.failed != nil {
		return nil
	}
	c.work, c.next = c.next, nil
	return c.work
}

func (c *accepted) receive(r *request) {
	if r != nil {
		c.handler.Received(r.message, r.frame)
	}
}

// end waits for the response that is due, and gives the error that the connection
// ended with, and whether the owner still thinks that there is a connection. What
// was sent before Close goes out.
func (c *accepted) end(err error) (cause error, tell bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.writing || c.work != nil && !c.closing && c.failed == nil {
		c.changed.Wait()
	}
	c.gone = true
	if c.work != nil {
		c.host.budget.give(c.work.share)
		c.work = nil
	}
	if c.failed != nil {
		err = c.failed
	}
	return err, !c.closing && c.host.alive()
}

// Send implements Conn. What the socket takes at once is written here, which saves
// waking another goroutine; for the rest, and for regions that are large or have to be
// read from a disk, there is one of its own.
func (c *accepted) Send(m *node.Message) {
	if m.Response == nil {
		panic("tcp: an accepted connection carries responses only")
	}
	r := c.answer(m)
	if r == nil {
		release(m)
		return
	}
	w := newWriter(c.nc, c.host.cfg.WriteTimeout)
	if err := w.add(m); err != nil {
		panic(fmt.Sprintf("tcp: the response to %v cannot be sent: %v", c.nc.RemoteAddr(), err))
	}
	c.over(r)
	if c.prompt != nil && (len(w.holes) == 0 || w.fill()) {
		rest, err := c.prompt.write(w.outline)
		if len(rest) == 0 || err != nil {
			w.done()
			release(m)
			c.written(err)
			return
		}
		w.from = len(w.outline) - len(rest)
	}
	c.finish(w, m)
}

// finish writes what is left of a response on a goroutine of its own.
func (c *accepted) finish(w writer, m *node.Message) {
	c.host.wg.Go(func() {
		err := w.flush()
		w.done()
		release(m)
		c.nc.SetWriteDeadline(time.Time{}) // prompt has none
		c.written(err)
	})
}

// Release implements Conn.
func (c *accepted) Release() {
	if r := c.answer(nil); r != nil {
		c.over(r)
		c.written(nil)
	}
}

// answer ends the request in work and begins its response; nil if the connection
// is gone.
func (c *accepted) answer(m *node.Message) *request {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.work
	switch {
	case c.gone || c.closing || c.failed != nil:
		return nil
	case r == nil:
		panic("tcp: answer or release on a connection that has no request in work")
	case m != nil && (m.CorrelationID != r.id || m.Key() != r.key):
		panic(fmt.Sprintf("tcp: an answer of key %d and correlation id %d to a request of key %d and correlation id %d",
			m.Key(), m.CorrelationID, r.key, r.id))
	}
	c.work, c.writing = nil, true
	return r
}

// over gives up what an answered request holds.
func (c *accepted) over(r *request) {
	c.host.budget.give(r.share)
	if r.key == produceKey {
		recycle(r.frame)
	}
}

// written ends a response and makes way for the next request.
func (c *accepted) written(err error) {
	c.mu.Lock()
	c.writing = false
	if err != nil {
		c.failed = err
		if errors.Is(err, ErrRegion) {
			reset(c.nc)
		}
		c.nc.Close() // ends the reader
	}
	r := c.take()
	if r == nil {
		c.since = time.Now()
	}
	c.changed.Signal()
	c.mu.Unlock()
	c.receive(r)
}

// More implements Conn.
func (c *accepted) More() bool { return more(c.nc) }

// Close implements Conn.
func (c *accepted) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		c.closing = true
		close(c.closed)
		c.nc.SetReadDeadline(time.Unix(1, 0))
		c.changed.Signal()
	}
}

func (c *accepted) kill() { c.nc.Close() }
