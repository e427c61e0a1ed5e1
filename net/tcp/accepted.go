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
	handler Handler
	frames  *frameReader
	answers chan *node.Message // to the request in work; nil is Release
	closed  chan struct{}      // Close was called

	mu      sync.Mutex
	inWork  bool  // a request waits for Send or Release
	key     int16 // of that request; the request itself belongs to the handler
	id      int32 // its correlation id
	closing bool
	gone    bool
}

func newAccepted(h *Host, nc net.Conn) *accepted {
	return &accepted{host: h, nc: nc, frames: newFrameReader(nc, h.cfg.MaxFrame),
		answers: make(chan *node.Message, 1), closed: make(chan struct{})}
}

// errClosed ends the loop of a connection that its owner closed.
var errClosed = errors.New("closed")

// serve is the goroutine of the connection.
func (c *accepted) serve() {
	var err error
	for err == nil {
		err = c.exchange()
	}
	if errors.Is(err, ErrRegion) {
		reset(c.nc)
	}
	c.nc.Close()
	if c.end() {
		c.handler.Lost(err)
	}
}

// end tells whether the owner still thinks that there is a connection.
func (c *accepted) end() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	return !c.closing && c.host.alive()
}

// exchange carries one request to the handler and its response back.
func (c *accepted) exchange() error {
	if err := c.arm(); err != nil {
		return err
	}
	size, err := c.frames.size()
	if err != nil {
		return err
	}
	if size > smallFrame {
		if !c.host.budget.take(size, c.closed) {
			return errClosed
		}
		defer c.host.budget.give(size)
	}
	frame, err := c.frames.frame(size)
	if err != nil {
		return err
	}
	m, err := wire.DecodeRequest(frame)
	if err != nil {
		return err
	}
	c.begin(m)
	c.handler.Received(m, frame)
	answer, err := c.await()
	if err != nil || answer == nil {
		return err
	}
	return c.write(answer)
}

// arm sets the time by which the next request must be there. Close moves it to
// the past, which must not be undone.
func (c *accepted) arm() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return errClosed
	}
	return c.nc.SetReadDeadline(time.Now().Add(c.host.cfg.IdleTimeout))
}

func (c *accepted) begin(m *node.Message) {
	c.mu.Lock()
	c.inWork, c.key, c.id = true, m.Key(), m.CorrelationID
	c.mu.Unlock()
}

// await waits for Send, Release or Close. What was sent before Close goes out.
func (c *accepted) await() (*node.Message, error) {
	select {
	case m := <-c.answers:
		return m, nil
	case <-c.closed:
	}
	select {
	case m := <-c.answers:
		return m, nil
	default:
		return nil, errClosed
	}
}

func (c *accepted) write(m *node.Message) error {
	defer release(m)
	w := newWriter(c.nc, c.host.cfg.WriteTimeout)
	defer w.done()
	if err := w.add(m); err != nil {
		panic(fmt.Sprintf("tcp: the response to %v cannot be sent: %v", c.nc.RemoteAddr(), err))
	}
	return w.flush()
}

// Send implements Conn.
func (c *accepted) Send(m *node.Message) {
	if m.Response == nil {
		panic("tcp: an accepted connection carries responses only")
	}
	if !c.answer(m) {
		release(m)
	}
}

// Release implements Conn.
func (c *accepted) Release() { c.answer(nil) }

// answer ends the request in work; false if the connection is gone.
func (c *accepted) answer(m *node.Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone || c.closing {
		return false
	}
	switch {
	case !c.inWork:
		panic("tcp: answer or release on a connection that has no request in work")
	case m != nil && (m.CorrelationID != c.id || m.Key() != c.key):
		panic(fmt.Sprintf("tcp: an answer of key %d and correlation id %d to a request of key %d and correlation id %d",
			m.Key(), m.CorrelationID, c.key, c.id))
	}
	c.inWork = false
	c.answers <- m
	return true
}

// Close implements Conn.
func (c *accepted) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		c.closing = true
		close(c.closed)
		c.nc.SetReadDeadline(time.Unix(1, 0))
	}
}

func (c *accepted) kill() { c.nc.Close() }
