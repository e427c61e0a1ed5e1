package tcp

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"tidemark/net/wire"
	"tidemark/node"
)

// chunkSize is how many bytes go to the socket with one write: large enough that
// the system call does not count, small enough for a processor's cache.
const chunkSize = 256 << 10

// scratch is what it takes to write a message.
type scratch struct {
	outline []byte
	holes   []wire.Hole
	chunk   []byte
	whole   []byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// writer puts messages into a socket. A write that the peer does not take in
// time fails.
type writer struct {
	nc      net.Conn
	timeout time.Duration
	from    int // in the outline: what is before it is written
	*scratch
}

func newWriter(nc net.Conn, timeout time.Duration) writer {
	return writer{nc: nc, timeout: timeout, scratch: scratches.Get().(*scratch)}
}

// done gives the buffers back, unless one grew so large that it would be a
// waste to keep.
func (w *writer) done() {
	w.outline, w.chunk, w.whole = w.outline[:0], w.chunk[:0], w.whole[:0]
	clear(w.holes)
	w.holes = w.holes[:0]
	if cap(w.outline) <= 8*chunkSize {
		scratches.Put(w.scratch)
	}
}

// add lays m out behind the messages before it; one with regions must be alone.
func (w *writer) add(m *node.Message) (err error) {
	w.outline, w.holes, err = wire.Outline(m, w.outline, w.holes)
	return err
}

// promptReader is a disk.Reader that knows what it has in memory.
type promptReader interface {
	// ReadPrompt fills p from off unless it had to wait for a device; false if so.
	ReadPrompt(p []byte, off int64) bool
}

// fill reads regions that are small and in memory, as what a leader has just appended
// is, so that nothing is left to be read. False leaves everything as it was.
func (w *writer) fill() bool {
	w.whole = w.whole[:0]
	from := 0
	for _, h := range w.holes {
		src, ok := h.Region.Src.(promptReader)
		if !ok || len(w.whole)+h.Region.N > smallFrame {
			return false
		}
		w.whole = append(w.whole, w.outline[from:h.At]...)
		from = h.At
		n := len(w.whole)
		w.whole = slices.Grow(w.whole, h.Region.N)[:n+h.Region.N]
		if !src.ReadPrompt(w.whole[n:], h.Region.Off) {
			return false
		}
	}
	w.whole = append(w.whole, w.outline[from:]...)
	w.outline, w.whole = w.whole, w.outline
	clear(w.holes)
	w.holes = w.holes[:0]
	return true
}

// flush writes what was added, regions read on the way.
func (w *writer) flush() error {
	for _, h := range w.holes {
		if err := w.bytes(w.outline[w.from:h.At]); err != nil {
			return err
		}
		if err := w.region(h); err != nil {
			return err
		}
		w.from = h.At
	}
	if len(w.chunk) == 0 { // no region: no copy
		return w.straight(w.outline[w.from:])
	}
	if err := w.bytes(w.outline[w.from:]); err != nil {
		return err
	}
	return w.send()
}

// bytes appends p to the chunk, which is sent whenever it is full.
func (w *writer) bytes(p []byte) error {
	for len(p) > 0 {
		room, err := w.room()
		if err != nil {
			return err
		}
		n := copy(room, p)
		w.chunk = w.chunk[:len(w.chunk)+n]
		p = p[n:]
	}
	return nil
}

// region is bytes for a hole.
func (w *writer) region(h wire.Hole) error {
	r := h.Region
	for r.N > 0 {
		room, err := w.room()
		if err != nil {
			return err
		}
		part := r
		part.N = min(r.N, len(room))
		if err := part.Read(room[:part.N]); err != nil {
			return fmt.Errorf("%w: read %d bytes at %d: %w", ErrRegion, part.N, part.Off, err)
		}
		w.chunk = w.chunk[:len(w.chunk)+part.N]
		r.Off += int64(part.N)
		r.N -= part.N
	}
	return nil
}

// room is the free part of the chunk, never empty.
func (w *writer) room() ([]byte, error) {
	if cap(w.chunk) < chunkSize {
		w.chunk = make([]byte, 0, chunkSize)
	}
	if len(w.chunk) == chunkSize {
		if err := w.send(); err != nil {
			return nil, err
		}
	}
	return w.chunk[len(w.chunk):chunkSize], nil
}

func (w *writer) send() error {
	p := w.chunk
	w.chunk = w.chunk[:0]
	return w.straight(p)
}

// straight writes p; the peer has the timeout anew for each chunk of it.
func (w *writer) straight(p []byte) error {
	for len(p) > 0 {
		w.nc.SetWriteDeadline(time.Now().Add(w.timeout))
		n := min(len(p), chunkSize)
		if _, err := w.nc.Write(p[:n]); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// release gives the regions of a message up.
func release(m *node.Message) {
	for _, r := range m.Regions {
		r.Release()
	}
}

// reset closes a socket so that the peer cannot take what it has for the whole.
func reset(nc net.Conn) {
	if t, ok := nc.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	nc.Close()
}
