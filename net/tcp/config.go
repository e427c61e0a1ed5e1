package tcp

import (
	"errors"
	"time"

	"tidemark/net/wire"
	"tidemark/node"
)

// Config bounds what connections may take. A zero field stands for the default
// named.
type Config struct {
	// MaxFrame is socket.request.max.bytes: the largest frame that is read,
	// without its size field. 100 MiB.
	MaxFrame int
	// Budget is queued.max.request.bytes: the bytes of memory of all requests above
	// 64 KiB that are read or in work. A request that is read holds no more than its
	// size and, as long as MaxFrame bytes are left, no more than 32 times what it has
	// sent. At least MaxFrame. 512 MiB.
	Budget int
	// StallTimeout is how long the peer may take, while requests wait for the budget,
	// to send a 32nd of the bytes that its request holds of it; if it takes longer the
	// connection is closed. 10 seconds, as clients that wait give up after request.timeout.ms,
	// 30 seconds.
	StallTimeout time.Duration
	// IdleTimeout is connections.max.idle.ms: how long an accepted connection
	// may take to send its next whole request, without what that waits for the
	// budget. 10 minutes.
	IdleTimeout time.Duration
	// WriteTimeout is how long the peer may take to accept the next 256 KiB.
	// 30 seconds.
	WriteTimeout time.Duration
	// ConnectTimeout is socket.connection.setup.timeout.ms. 10 seconds.
	ConnectTimeout time.Duration
}

func (c Config) withDefaults() Config {
	if c.MaxFrame == 0 {
		c.MaxFrame = wire.MaxFrame
	}
	if c.Budget == 0 {
		c.Budget = 512 << 20
	}
	c.Budget = max(c.Budget, c.MaxFrame)
	if c.StallTimeout == 0 {
		c.StallTimeout = 10 * time.Second
	}
	if c.IdleTimeout == 0 {
		c.IdleTimeout = 10 * time.Minute
	}
	if c.WriteTimeout == 0 {
		c.WriteTimeout = 30 * time.Second
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 10 * time.Second
	}
	return c
}

// Conn is one end of a connection. No method blocks, and on a connection that
// is gone none does anything but release the regions that it was given. The
// owner of the end calls them one at a time.
type Conn interface {
	// Send queues a message and takes over its regions; the body must not be
	// written any more. On an accepted connection it is the response to the
	// request in work, and it panics if there is none.
	Send(m *node.Message)
	// Release ends the request in work of an accepted connection without a
	// response.
	Release()
	// More tells whether the peer has sent more than was read from the socket, so
	// that reading goes on meanwhile if others do the work of a request.
	More() bool
	// Close closes the connection after what was sent. Its handler is not
	// called any more, but for a message that was on its way.
	Close()
}

// Handler hears of one connection, by a goroutine of the connection, on which nothing
// else is read before the call returns, or, if a request was read ahead, by whoever
// has just sent the answer to the one before. Its methods must not wait for the
// connection.
type Handler interface {
	// Received brings a request (accepted) or a response (dialled), and the frame
	// that it was decoded from, which it aliases. A request comes after the answer to
	// the one before, of which the call may not have returned yet.
	Received(m *node.Message, frame []byte)
	// Lost is the last call: the connection could not be made, or is gone
	// without Close. The cause wraps wire.ErrFrame if the peer sent what nobody
	// can read, ErrStalled if it kept others waiting for memory, and ErrRegion if a
	// response could not be completed.
	Lost(cause error)
}

// ErrRegion is wrapped by the cause of a reset for a region that could not be
// read at the socket write.
var ErrRegion = errors.New("socket write reset")

// ErrStalled is wrapped by the cause of closing an accepted connection whose request
// held memory that others waited for, and came too slowly.
var ErrStalled = errors.New("request stalled")
