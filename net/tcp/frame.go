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
	_, err := io.ReadFull(r.src, frame)
	return frame, err
}
