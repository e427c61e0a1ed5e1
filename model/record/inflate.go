package record

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// MaxInflated is the most bytes that the records of one compressed batch may
// take: a batch that claims more is refused, or a kilobyte of zeros from a
// stranger would fill the memory of a broker.
const MaxInflated = 64 << 20

// keepInflated is the largest buffer in bytes that an Inflater keeps for the
// next batch.
const keepInflated = 4 << 20

// Inflater reads compressed records. It keeps its decoders and its buffer from
// batch to batch, as both cost more than a small batch; one serves all logs of a
// lane. The zero value is ready.
type Inflater struct {
	zstd *zstd.Decoder
	gzip *gzip.Reader
	lz4  *lz4.Reader
	src  bytes.Reader
	out  []byte // what Records returned last, or empty
}

// Records returns the records of b as they are without compression: of an
// uncompressed batch its own bytes, else bytes that the next call overwrites,
// unless Detach comes before. An error wraps ErrCorrupt, or ErrCompressed if
// the codec is none that Kafka has.
func (f *Inflater) Records(b Batch) ([]byte, error) {
	c := b.Compression()
	if c == None {
		return b[Overhead:], nil
	}
	if c > Zstd {
		return nil, fmt.Errorf("%w: the batch at offset %d uses %s", ErrCompressed, b.BaseOffset(), c)
	}
	if cap(f.out) > keepInflated {
		f.out = nil
	}
	out, err := f.inflate(c, f.out[:0], b[Overhead:])
	if err != nil {
		return nil, fmt.Errorf("%w: the batch at offset %d does not decompress with %s: %w", ErrCorrupt, b.BaseOffset(), c, err)
	}
	f.out = out
	return out, nil
}

// Detach leaves the bytes that Records returned last to the caller.
func (f *Inflater) Detach() { f.out = nil }

// inflate appends what src holds to dst.
func (f *Inflater) inflate(c Codec, dst, src []byte) ([]byte, error) {
	switch c {
	case Gzip:
		return f.inflateGzip(dst, src)
	case Snappy:
		return inflateSnappy(dst, src)
	case LZ4:
		return f.inflateLZ4(dst, src)
	}
	return f.inflateZstd(dst, src)
}

func (f *Inflater) inflateGzip(dst, src []byte) ([]byte, error) {
	f.src.Reset(src)
	if f.gzip == nil {
		f.gzip = new(gzip.Reader)
	}
	if err := f.gzip.Reset(&f.src); err != nil {
		return nil, err
	}
	// The last four bytes tell the size; no byte of deflate stands for more
	// than 1032.
	hint := int(binary.LittleEndian.Uint32(src[len(src)-4:]))
	return readAll(dst, f.gzip, min(hint, 1032*len(src)))
}

func (f *Inflater) inflateLZ4(dst, src []byte) ([]byte, error) {
	f.src.Reset(src)
	if f.lz4 == nil {
		f.lz4 = lz4.NewReader(&f.src)
		if err := f.lz4.Apply(lz4.ConcurrencyOption(1)); err != nil {
			return nil, err
		}
	} else {
		f.lz4.Reset(&f.src)
	}
	return readAll(dst, f.lz4, 4*len(src))
}

func (f *Inflater) inflateZstd(dst, src []byte) ([]byte, error) {
	if f.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxInflated), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		f.zstd = d
	}
	return f.zstd.DecodeAll(src, dst)
}

var errInflated = fmt.Errorf("more than %d bytes come out", MaxInflated)

// readAll appends all of r to dst, up to MaxInflated bytes; hint is how many it
// may be.
func readAll(dst []byte, r io.Reader, hint int) ([]byte, error) {
	if hint = min(hint, MaxInflated) + 1; cap(dst) < hint {
		dst = make([]byte, 0, hint)
	}
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst) > MaxInflated:
			return nil, errInflated
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return nil, err
		}
	}
}
