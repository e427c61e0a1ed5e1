package tcp

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// patient is the socket as the reader of an accepted connection sees it: it ends when
// the peer was idle for too long, or holds memory that others wait for and does not
// fill it. To set a deadline anew for each request would cost more than to decode it,
// so there is one at a time, and what went on meanwhile is looked at when it has passed.
// All but the reader keep away from it.
type patient struct {
	c     *accepted
	until time.Time // the deadline
	came  int       // from the socket, bytes

	// Of the request that is read, if it has a share of the budget.
	share int       // bytes; 0: it has none
	due   int       // what came must be by then, bytes
	by    time.Time // then
}

// Read implements io.Reader.
func (p *patient) Read(b []byte) (int, error) {
	for {
		n, err := p.c.nc.Read(b)
		p.came += n
		if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
			if err = p.wait(); err == nil {
				continue
			}
		}
		return n, err
	}
}

// wait sets the time by which more must be there, or tells which one has passed. A
// request in work is not idleness. Close has moved the deadline to the past, which must
// not be undone.
func (p *patient) wait() error {
	now := time.Now()
	if err := p.stalled(now); err != nil {
		return err
	}
	c := p.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil || c.work != nil || c.writing {
		c.since = now
	}
	p.until = c.since.Add(c.host.cfg.IdleTimeout)
	if c.closing || c.failed != nil || !now.Before(p.until) {
		return os.ErrDeadlineExceeded
	}
	if p.share > 0 && p.by.Before(p.until) {
		p.until = p.by
	}
	c.nc.SetReadDeadline(p.until)
	return nil
}

// stalled tells of a request that others wait for, and gives any other time.
func (p *patient) stalled(now time.Time) error {
	if p.share == 0 || now.Before(p.by) {
		return nil
	}
	if missing := p.due - p.came; missing > 0 && p.c.host.budget.wanted() {
		step := p.share / ahead
		return fmt.Errorf("%w: %v sent %d bytes in %v, at least %d are asked of who holds %d bytes that other requests wait for",
			ErrStalled, p.c.nc.RemoteAddr(), step-missing, p.c.host.cfg.StallTimeout, step, p.share)
	}
	p.expect(now)
	return nil
}

// expect sets what must come within the next StallTimeout.
func (p *patient) expect(now time.Time) {
	p.due, p.by = p.came+p.share/ahead, now.Add(p.c.host.cfg.StallTimeout)
}

// holds begins to look after a request that asked for a share of the budget and has
// got it now. That it waited is no idleness of the peer.
func (p *patient) holds(share int, asked, now time.Time) error {
	p.c.mu.Lock()
	p.c.since = p.c.since.Add(now.Sub(asked))
	p.c.mu.Unlock()
	p.share = share
	p.expect(now)
	if p.by.Before(p.until) {
		return p.wait()
	}
	return nil
}

// whole ends what holds began.
func (p *patient) whole() { p.share = 0 }
