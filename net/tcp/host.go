package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Host is the sockets of one process.
type Host struct {
	cfg    Config
	budget budget
	wg     sync.WaitGroup
	dying  chan struct{}

	mu        sync.Mutex
	dead      bool
	listeners []net.Listener
	conns     map[mortal]struct{}
}

// mortal is a connection as the host keeps it.
type mortal interface {
	Conn
	// kill closes the socket, whatever was not sent yet.
	kill()
}

// New returns a process without sockets.
func New(cfg Config) *Host {
	cfg = cfg.withDefaults()
	return &Host{cfg: cfg, budget: budget{free: cfg.Budget, spare: cfg.MaxFrame}, dying: make(chan struct{}), conns: map[mortal]struct{}{}}
}

// Listen accepts connections at host:port from now on; accept gives each its
// handler before anything is read from it.
func (h *Host) Listen(addr string, accept func(Conn) Handler) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen at %s: %w", addr, inner(err))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dead {
		l.Close()
		return fmt.Errorf("listen at %s: %w", addr, net.ErrClosed)
	}
	h.listeners = append(h.listeners, l)
	h.wg.Go(func() { h.accept(l, accept) })
	return nil
}

// inner is an error of package net without the address that is said already.
func inner(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// accept runs until the listener is closed. Any other error is of one connection
// or, if the process has no more descriptors, goes away with time.
func (h *Host) accept(l net.Listener, accept func(Conn) Handler) {
	const longest = time.Second
	for pause := time.Duration(0); ; {
		nc, err := l.Accept()
		if err == nil {
			pause = 0
			h.serve(nc, accept)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		pause = min(max(2*pause, 5*time.Millisecond), longest)
		select {
		case <-time.After(pause):
		case <-h.dying:
			return
		}
	}
}

// serve starts the goroutine of an accepted connection.
func (h *Host) serve(nc net.Conn, accept func(Conn) Handler) {
	c := newAccepted(h, nc)
	c.handler = accept(c)
	if !h.start(c, c.serve) {
		nc.Close()
	}
}

// Dial opens a connection to host:port. It never blocks and never fails here:
// messages may be sent at once, and failure is Lost.
func (h *Host) Dial(addr string, handler Handler) Conn {
	ctx, cancel := context.WithCancel(context.Background())
	c := &dialled{host: h, handler: handler, abandon: cancel, wake: make(chan struct{}, 1)}
	if !h.start(c, func() { c.run(ctx, addr) }) {
		cancel()
	}
	return c
}

// start runs a connection; false if the process is dead.
func (h *Host) start(c mortal, run func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dead {
		return false
	}
	h.conns[c] = struct{}{}
	h.wg.Go(func() {
		run()
		h.mu.Lock()
		delete(h.conns, c)
		h.mu.Unlock()
	})
	return true
}

// alive tells whether handlers may be told of a loss. Connections within one
// process see each other go when it dies.
func (h *Host) alive() bool {
	select {
	case <-h.dying:
		return false
	default:
		return true
	}
}

// Close ends everything as the death of the process would: the kernel still
// sends what it was given, and no handler hears of it. It waits for all
// goroutines.
func (h *Host) Close() {
	h.mu.Lock()
	if !h.dead {
		h.dead = true
		close(h.dying)
	}
	for _, l := range h.listeners {
		l.Close()
	}
	for c := range h.conns {
		c.Close()
		c.kill()
	}
	h.mu.Unlock()
	h.wg.Wait()
}
