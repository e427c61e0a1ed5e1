package wire

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
	"tidemark/node"
)

// Hole is a place in a frame whose bytes are a region that was not read yet:
// frame[At : At+Region.N], zero until Fill; in an outline the place before At.
type Hole struct {
	At     int // bytes from the start of the frame
	Region disk.Region
}

// Encode appends m's frame to dst, regions read and filled in, and returns it.
// The regions stay the caller's to release. Errors are those of reading a
// region, and of messages that the protocol cannot carry.
func Encode(m *node.Message, dst []byte) ([]byte, error) {
	start := len(dst)
	dst, holes, err := Layout(m, dst, nil)
	if err != nil {
		return dst, err
	}
	return dst, Fill(dst[start:], holes)
}

// Layout appends m's frame to dst with a hole for each region, and the holes to
// holes. Positions count from the start of this frame.
func Layout(m *node.Message, dst []byte, holes []Hole) ([]byte, []Hole, error) {
	return lay(m, dst, holes, false)
}

// Outline is Layout without room for the holes: a hole's bytes go before
// dst[At] on their way to the socket, so that a frame of 50 MB needs no buffer
// of 50 MB. The size field counts them.
func Outline(m *node.Message, dst []byte, holes []Hole) ([]byte, []Hole, error) {
	return lay(m, dst, holes, true)
}

func lay(m *node.Message, dst []byte, holes []Hole, outline bool) ([]byte, []Hole, error) {
	if err := checkVersion(m); err != nil {
		return dst, holes, err
	}
	start, apart := len(dst), 0
	dst, err := appendHeader(dst, m)
	if err != nil {
		return dst, holes, err
	}
	switch {
	case len(m.Regions) > 0:
		r, ok := m.Response.(*kmsg.FetchResponse)
		if !ok {
			return dst, holes, fmt.Errorf("encode %s: only a Fetch response has regions", name(m.Key()))
		}
		f := fetchLayout{dst: dst, start: start, regions: m.Regions, holes: holes, outline: outline}
		if err := f.response(r); err != nil {
			return dst, holes, err
		}
		dst, holes, apart = f.dst, f.holes, f.apart
	case m.Request != nil:
		dst = m.Request.AppendTo(dst)
	default:
		dst = m.Response.AppendTo(dst)
	}
	size := len(dst) - start - sizeBytes + apart
	if size > math.MaxInt32 {
		return dst, holes, fmt.Errorf("encode %s: frame of %d bytes does not fit its size field", name(m.Key()), size)
	}
	binary.BigEndian.PutUint32(dst[start:], uint32(size))
	return dst, holes, nil
}

// Fill reads each hole's region into its place. The first error is returned:
// the connection cannot go on, because its size field promised the bytes.
func Fill(frame []byte, holes []Hole) error {
	for _, h := range holes {
		if err := h.Region.Read(frame[h.At : h.At+h.Region.N]); err != nil {
			return fmt.Errorf("read %d bytes at %d for the socket: %w", h.Region.N, h.Region.Off, err)
		}
	}
	return nil
}

// checkVersion refuses a version that the codec does not know, which it would
// silently write in the newest layout.
func checkVersion(m *node.Message) error {
	known := int16(-1)
	if m.Request != nil {
		known = m.Request.MaxVersion()
	} else {
		known = m.Response.MaxVersion()
	}
	if v := m.Version(); v < 0 || v > known {
		return fmt.Errorf("encode %s: version %d is not between 0 and %d", name(m.Key()), v, known)
	}
	return nil
}
