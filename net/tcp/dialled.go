package tcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"tidemark/net/wire"
	"tidemark/node"
)

// dialled is the client's end of a connection: a goroutine that connects and
// then reads, and one that writes what the socket does not take at once.
type dialled struct {
	host    *Host
	handler Handler
	abandon context.CancelFunc // of the dial
	wake    chan struct{}      // the writer has something to look at

	mu      sync.Mutex
	nc      net.Conn // nil until it is connected
	prompt  *prompt  // writes to nc; nil until then, or if nc cannot
	left    unwritten
	busy    bool // something is left, or the writer has it
	closing bool
	gone    bool

	answers sync.Mutex // guards pending: the writer adds, the reader takes
	pending wire.Pending
}

// unwritten is what the writer has to do.
type unwritten struct {
	rest  []byte          // of a request that the socket took a part of
	queue []*node.Message // after that
	err   error           // a write failed: end the connection
}

func (u unwritten) none() bool { return len(u.rest) == 0 && len(u.queue) == 0 && u.err == nil }

// run is the goroutine that connects and reads.
func (c *dialled) run(ctx context.Context, addr string) {
	err := c.connect(ctx, addr)
	if err == nil {
		failed := make(chan error, 1)
		c.host.wg.Go(func() { failed <- c.writeAll() })
		err = c.readAll()
		c.nc.Close()
		c.end()
		if e := <-failed; errors.Is(err, net.ErrClosed) {
			err = e // the writer closed it
		}
	}
	if c.end() {
		c.handler.Lost(err)
	}
}

func (c *dialled) connect(ctx context.Context, addr string) error {
	d := net.Dialer{Timeout: c.host.cfg.ConnectTimeout}
	nc, err := d.DialContext(ctx, "tcp", addr)
	c.abandon()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		nc.Close()
		return errClosed
	}
	c.nc, c.prompt = nc, newPrompt(nc)
	return nil
}

// end lets the writer end, drops what it did not write, and tells whether the
// owner still thinks that there is a connection.
func (c *dialled) end() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	c.left = unwritten{}
	c.poke()
	return !c.closing && c.host.alive()
}

// readAll pairs responses with their requests until the connection ends.
func (c *dialled) readAll() error {
	frames := newFrameReader(c.nc, c.host.cfg.MaxFrame)
	for {
		size, err := frames.size()
		if err != nil {
			return err
		}
		frame, err := frames.frame(size)
		if err != nil {
			return err
		}
		m, err := c.pair(frame)
		if err != nil {
			return err
		}
		c.handler.Received(m, frame)
	}
}

func (c *dialled) pair(frame []byte) (*node.Message, error) {
	c.answers.Lock()
	defer c.answers.Unlock()
	return c.pending.Decode(frame)
}

// writeAll is the goroutine that writes. It ends when the connection does, and
// ends it when it cannot write or when all was written before Close.
func (c *dialled) writeAll() error {
	for range c.wake {
		for more := true; more; {
			left, closing := c.take()
			err := left.err
			if err == nil {
				err = c.write(left)
			}
			if err != nil {
				reset(c.nc)
				return err
			}
			if closing {
				c.nc.Close()
				return nil
			}
			more = !left.none()
		}
	}
	return nil
}

// take returns what is to be written, and whether it is the last.
func (c *dialled) take() (unwritten, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.left
	c.left = unwritten{}
	c.busy = !left.none()
	return left, c.closing || c.gone
}

// write sends requests with as few system calls as their size allows.
func (c *dialled) write(left unwritten) error {
	w := newWriter(c.nc, c.host.cfg.WriteTimeout)
	err := w.straight(left.rest)
	for n := 0; n < len(left.queue) && err == nil; {
		for ; n < len(left.queue) && len(w.outline) < chunkSize; n++ {
			c.add(&w, left.queue[n])
		}
		err = w.flush()
		w.outline, w.from = w.outline[:0], 0
	}
	w.done()
	c.nc.SetWriteDeadline(time.Time{}) // prompt has none
	return err
}

// add lays out a request that is about to be written.
func (c *dialled) add(w *writer, m *node.Message) {
	if err := w.add(m); err != nil {
		panic(fmt.Sprintf("tcp: the request to %v cannot be sent: %v", c.nc.RemoteAddr(), err))
	}
	c.answers.Lock()
	c.pending.Sent(m)
	c.answers.Unlock()
}

// poke makes the writer look.
func (c *dialled) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Send implements Conn. What the socket takes at once is written here, as an answer
// is.
func (c *dialled) Send(m *node.Message) {
	if m.Request == nil {
		panic("tcp: a dialled connection carries requests only")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone || c.closing {
		return
	}
	if c.busy || c.prompt == nil {
		c.left.queue = append(c.left.queue, m)
		c.busy = true
		c.poke()
		return
	}
	w := newWriter(c.nc, c.host.cfg.WriteTimeout)
	c.add(&w, m)
	rest, err := c.prompt.write(w.outline)
	if len(rest) > 0 || err != nil {
		c.left = unwritten{rest: bytes.Clone(rest), err: err}
		c.busy = true
		c.poke()
	}
	w.done()
}

// Release implements Conn.
func (c *dialled) Release() {
	panic(errors.New("tcp: a dialled connection has no request in work"))
}

// More implements Conn.
func (c *dialled) More() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return more(c.nc)
}

// Close implements Conn.
func (c *dialled) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
	c.abandon()
	c.poke()
}

func (c *dialled) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nc != nil {
		c.nc.Close()
	}
}
