package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"tidemark/net/wire"
	"tidemark/node"
)

// dialled is the client's end of a connection: a goroutine that connects and
// then reads, and one that writes.
type dialled struct {
	host    *Host
	handler Handler
	abandon context.CancelFunc // of the dial
	wake    chan struct{}      // the writer has something to look at

	mu      sync.Mutex
	nc      net.Conn // nil until it is connected
	queue   []*node.Message
	closing bool
	gone    bool

	answers sync.Mutex // guards pending: the writer adds, the reader takes
	pending wire.Pending
}

// run is the goroutine that connects and reads.
func (c *dialled) run(ctx context.Context, addr string) {
	err := c.connect(ctx, addr)
	if err == nil {
		failed := make(chan error, 1)
		go func() { failed <- c.writeAll() }()
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
	c.nc = nc
	return nil
}

// end lets the writer end, drops what it did not write, and tells whether the
// owner still thinks that there is a connection.
func (c *dialled) end() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	c.queue = nil
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
		batch, closing := c.take()
		if err := c.write(batch); err != nil {
			reset(c.nc)
			return err
		}
		if closing {
			c.nc.Close()
			return nil
		}
	}
	return nil
}

// take returns the queue, and whether it is the last.
func (c *dialled) take() ([]*node.Message, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	batch := c.queue
	c.queue = nil
	return batch, c.closing || c.gone
}

// write sends a batch of requests with as few system calls as its size allows.
func (c *dialled) write(batch []*node.Message) error {
	for len(batch) > 0 {
		w := newWriter(c.nc, c.host.cfg.WriteTimeout)
		n := 0
		for ; n < len(batch) && len(w.outline) < chunkSize; n++ {
			if err := w.add(batch[n]); err != nil {
				panic(fmt.Sprintf("tcp: the request to %v cannot be sent: %v", c.nc.RemoteAddr(), err))
			}
			c.expect(batch[n])
		}
		err := w.flush()
		w.done()
		if err != nil {
			return err
		}
		batch = batch[n:]
	}
	return nil
}

func (c *dialled) expect(m *node.Message) {
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

// Send implements Conn.
func (c *dialled) Send(m *node.Message) {
	if m.Request == nil {
		panic("tcp: a dialled connection carries requests only")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone || c.closing {
		return
	}
	c.queue = append(c.queue, m)
	c.poke()
}

// Release implements Conn.
func (c *dialled) Release() {
	panic(errors.New("tcp: a dialled connection has no request in work"))
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
