package storage

import (
	"errors"
	"fmt"
	"io"

	"tidemark/model/record"
)

// batchReader reads whole batches of a segment, a buffer at a time.
type batchReader struct {
	segment *segment
	pos     int64
}

func (r *batchReader) start(s *segment, pos int64) { r.segment, r.pos = s, pos }

// next returns the next whole batches, at least one: io.EOF at the end. They are
// valid until the cleaner reads again.
func (r *batchReader) next(c *Cleaner) ([]byte, error) {
	left := r.segment.size - r.pos
	if left <= 0 {
		return nil, io.EOF
	}
	for want := min(int64(c.cfg.IOBufferBytes), left); ; {
		buf, err := r.fill(c, int(want))
		if err != nil {
			return nil, err
		}
		whole := 0
		for whole < len(buf) {
			b, _, err := record.Next(buf[whole:])
			if errors.Is(err, record.ErrTruncated) {
				break
			}
			if err != nil {
				return nil, r.at(err)
			}
			whole += len(b)
		}
		if whole > 0 {
			r.pos += int64(whole)
			return buf[:whole], nil
		}
		size := record.LogOverhead
		if len(buf) >= size {
			size, _ = record.Size(buf) // Next saw that it is one
		}
		if int64(size) > left {
			return nil, r.at(record.ErrTruncated)
		}
		want = int64(size)
	}
}

func (r *batchReader) fill(c *Cleaner, n int) ([]byte, error) {
	if cap(c.buf) < n {
		c.buf = make([]byte, n)
	}
	buf := c.buf[:n]
	got, err := r.segment.log.ReadAt(buf, r.pos)
	if got == n {
		return buf, nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nil, r.at(err)
}

func (r *batchReader) at(err error) error {
	return fmt.Errorf("segment of base offset %d at position %d: %w", r.segment.base, r.pos, err)
}
