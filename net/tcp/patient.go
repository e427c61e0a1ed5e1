package tcp

import (
	"errors"
	"os"
	"time"
)

// patient is the socket as the reader of an accepted connection sees it: it ends when
// the peer was idle for too long. To set a deadline anew for each request would cost
// more than to decode it, so there is one at a time, and what went on meanwhile is
// looked at when it has passed.
type patient struct{ c *accepted }

// Read implements io.Reader.
func (r *patient) Read(p []byte) (int, error) {
	for {
		n, err := r.c.nc.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !r.c.mayIdle() {
			return n, err
		}
	}
}

// mayIdle sets the time by which the next request must be there; false if that has
// passed. A request in work is not idleness. Close has moved the deadline to the past,
// which must not be undone.
func (c *accepted) mayIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.next != nil || c.work != nil || c.writing {
		c.since = now
	}
	until := c.since.Add(c.host.cfg.IdleTimeout)
	if c.closing || c.failed != nil || !now.Before(until) {
		return false
	}
	c.nc.SetReadDeadline(until)
	return true
}
