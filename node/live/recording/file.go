package recording

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"tidemark/node"
)

// magic opens a recording; its last byte is the version of the format.
const magic = "tidemark recording \x01"

// ErrFormat is wrapped by every error about a file that is no recording, or one
// whose bytes changed.
var ErrFormat = errors.New("not a whole recording")

// ErrCut tells that the file ends within a chunk, as kill -9 may leave it.
var ErrCut = errors.New("the recording ends in the middle of a write")

// ChunkKind is what a chunk holds.
type ChunkKind uint8

const (
	// NodeChunk opens a node's life: Data is its configuration.
	NodeChunk ChunkKind = iota + 1
	// PathChunk is a path of its directory before the life: Name (a directory ends
	// with a slash) and Number, the size of a file in bytes.
	PathChunk
	// BytesChunk is a part of a file of that directory: Name, Number, the offset,
	// and Data. Parts that are missing are zeros.
	BytesChunk
	// LaneChunk is a run of callbacks of one lane: Lane and Data.
	LaneChunk
	// EndChunk closes a life: Name is the reason that a lane gave to Exit, "" if it
	// was killed.
	EndChunk
)

// Chunk is one chunk. Which fields count is said at its kind.
type Chunk struct {
	Kind   ChunkKind
	Node   int // lives in the order in which they began, from 0
	Lane   node.Lane
	Name   string
	Number int64
	Data   []byte
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	headerBytes = 12
	// maxChunk bounds what a reader takes for a chunk, bytes: a frame is the
	// largest thing in one.
	maxChunk = 1 << 30
)

// Writer writes a recording. It is not safe for concurrent use.
type Writer struct {
	out io.Writer
	buf []byte
}

// NewWriter begins a recording.
func NewWriter(out io.Writer) (*Writer, error) {
	if _, err := io.WriteString(out, magic); err != nil {
		return nil, fmt.Errorf("write the recording: %w", err)
	}
	return &Writer{out: out}, nil
}

// Write appends a chunk with one write.
func (w *Writer) Write(c Chunk) error {
	b := append(w.buf[:0], make([]byte, headerBytes)...)
	b = append(b, byte(c.Kind))
	b = binary.AppendUvarint(b, uint64(c.Node))
	b = append(b, byte(c.Lane))
	b = appendString(b, c.Name)
	b = binary.AppendVarint(b, c.Number)
	b = append(b, c.Data...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-headerBytes))
	binary.BigEndian.PutUint32(b[4:], crc32.Checksum(b[headerBytes:], castagnoli))
	binary.BigEndian.PutUint32(b[8:], crc32.Checksum(b[:8], castagnoli))
	w.buf = b
	if _, err := w.out.Write(b); err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return nil
}

// Reader reads a recording.
type Reader struct {
	in io.Reader
	at int64
}

// NewReader checks that there is a recording to read.
func NewReader(in io.Reader) (*Reader, error) {
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(in, head); err != nil || !bytes.Equal(head[:len(head)-1], []byte(magic[:len(magic)-1])) {
		return nil, fmt.Errorf("%w: it does not begin as a recording of tidemark serve does", ErrFormat)
	}
	if head[len(head)-1] != magic[len(magic)-1] {
		return nil, fmt.Errorf("%w: version %d of the format, this program knows %d", ErrFormat, head[len(head)-1], magic[len(magic)-1])
	}
	return &Reader{in: in, at: int64(len(magic))}, nil
}

// Next returns the next chunk, whose Data is the caller's to keep: io.EOF behind
// the last one, ErrCut if the last one is torn, an error that wraps ErrFormat if
// its bytes are not those that were written.
func (r *Reader) Next() (Chunk, error) {
	var head [headerBytes]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return Chunk{}, torn(err)
	}
	size := binary.BigEndian.Uint32(head[:])
	if crc32.Checksum(head[:8], castagnoli) != binary.BigEndian.Uint32(head[8:]) || size > maxChunk {
		return Chunk{}, r.bad("the header of the chunk")
	}
	payload := make([]byte, size)
	if n, err := io.ReadFull(r.in, payload); err == io.EOF || n < len(payload) && err == io.ErrUnexpectedEOF {
		return Chunk{}, ErrCut
	} else if err != nil {
		return Chunk{}, err
	}
	if crc32.Checksum(payload, castagnoli) != binary.BigEndian.Uint32(head[4:]) {
		return Chunk{}, r.bad("the checksum of the chunk")
	}
	d := decoder{b: payload}
	c := Chunk{Kind: ChunkKind(d.byte()), Node: int(d.uint()), Lane: node.Lane(d.byte()), Name: d.string(), Number: d.int(), Data: d.b}
	if d.short || c.Kind < NodeChunk || c.Kind > EndChunk {
		return Chunk{}, r.bad("the content of the chunk")
	}
	r.at += headerBytes + int64(size)
	return c, nil
}

func torn(err error) error {
	if err == io.ErrUnexpectedEOF {
		return ErrCut
	}
	return err
}

func (r *Reader) bad(what string) error {
	return fmt.Errorf("%w: %s at byte %d is wrong", ErrFormat, what, r.at)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decoder takes fields off b; short tells that one was not there.
type decoder struct {
	b     []byte
	short bool
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.short, d.b = true, nil
		return nil
	}
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) byte() byte {
	if p := d.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (d *decoder) word() uint64 {
	if p := d.take(8); p != nil {
		return binary.BigEndian.Uint64(p)
	}
	return 0
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.short, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.short, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) bytes() []byte { return d.take(d.uint()) }

func (d *decoder) string() string { return string(d.bytes()) }
