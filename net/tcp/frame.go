package tcp

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"tidemark/net/wire"
)

const (
	sizeBytes = 4
	// readBuffer holds a small request and what was pipelined behind it; the
	// rest of a large frame is read past it, straight into the frame.
	readBuffer = 4 << 10
)

// frameReader cuts a stream into frames.
type frameReader struct {
	src *bufio.Reader
	max int // of a frame without its size field, bytes
}

func newFrameReader(r io.Reader, max int) *frameReader {
	return &frameReader{src: bufio.NewReaderSize(r, readBuffer), max: max}
}

// size waits for the next frame and reads its size field. The error is io.EOF
// if the stream ends between frames.
func (r *frameReader) size() (int, error) {
	head, err := r.src.Peek(sizeBytes)
	if err == io.EOF && len(head) > 0 {
		return 0, io.ErrUnexpectedEOF
	}
	if err != nil {
		return 0, err
	}
	size := int32(binary.BigEndian.Uint32(head))
	if size < 0 || int64(size) > int64(r.max) {
		return 0, fmt.Errorf("%w: size %d is not between 0 and %d", wire.ErrFrame, size, r.max)
	}
	return int(size), nil
}

// frame reads the frame that size announced, with its size field, into memory
// of its own, which recycle takes.
func (r *frameReader) frame(size int) ([]byte, error) {
	frame := buffer(sizeBytes + size)
	return frame, r.fill(frame)
}

// head waits for the first n bytes of a frame, with its size field. It returns them if
// they had to be read out of the stream's buffer.
func (r *frameReader) head(n int) ([]byte, error) {
	if n > readBuffer {
		head := buffer(n)
		return head, r.fill(head)
	}
	_, err := r.src.Peek(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// fill reads more of a frame. The error is io.ErrUnexpectedEOF if the stream ends.
func (r *frameReader) fill(p []byte) error {
	_, err := io.ReadFull(r.src, p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
