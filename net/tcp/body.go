package tcp

import "time"

const (
	// ahead is how many times what it has sent a request may hold of the budget. A
	// larger number is less to copy when the memory grows for the first time, and lets
	// who sends little hold more.
	ahead = 32
	// firstShare is the first share of a larger request, bytes. What producers send by
	// default (max.request.size, 1 MiB) is below and needs no other.
	firstShare = ahead * smallFrame
	// growth is how many times the last share the next one is.
	growth = 4
)

// body reads a frame above smallFrame, with its size field, into memory that follows
// what has come. A size field is cheap to send: so the first bytes are read into memory
// that needs no share of the budget, as that of small frames does not, and only who has
// sent them gets a share.
//
//	memory   1/32 of the first share ─▶ 2 MiB ─▶ 8 MiB ─▶ 32 MiB ─▶ 100 MiB
//	budget   none                       the same: asked for when what is there is full
//
// The last share is as large as the frame; if that is 2 MiB or less it is the first.
func (c *accepted) body(r *request, size int) error {
	part := min(size, firstShare)
	head, err := c.frames.head(sizeBytes + part/ahead)
	r.frame = head
	for err == nil && r.share < size {
		have := len(r.frame)
		if err = c.grow(r, part, size); err == nil {
			err = c.frames.fill(r.frame[have:])
		}
		part = min(size, growth*r.share)
	}
	c.patient.whole()
	return err
}

// grow waits for a share of part or of size bytes, and moves what was read to as much
// memory. Meanwhile the old share is held too, as the old memory is.
func (c *accepted) grow(r *request, part, size int) error {
	asked := time.Now()
	share := c.host.budget.take(part, size, c.closed)
	if share == 0 {
		return errClosed
	}
	frame := buffer(sizeBytes + share)
	copy(frame, r.frame)
	recycle(r.frame)
	c.host.budget.give(r.share)
	r.frame, r.share = frame, share
	return c.patient.holds(share, asked, time.Now())
}
