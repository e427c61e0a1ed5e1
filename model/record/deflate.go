package record

import (
	"bytes"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// zstdWindow is the window in bytes of the zstd level that Kafka uses unless it
// is told otherwise, 3.
const zstdWindow = 2 << 20

// Deflater compresses records, with the settings of Kafka's Java client and at
// its default levels. What comes out depends on the bytes that go in alone: not
// on earlier batches, and not on the machine. It keeps its encoders from batch
// to batch; the zero value is ready.
type Deflater struct {
	zstd   *zstd.Encoder
	gzip   *gzip.Writer
	lz4    *lz4.Writer
	snappy *snappyEncoder
}

// deflate appends src, compressed with c, to dst.
func (f *Deflater) deflate(c Codec, dst, src []byte) []byte {
	switch c {
	case Gzip:
		return f.deflateGzip(dst, src)
	case Snappy:
		if f.snappy == nil {
			f.snappy = new(snappyEncoder)
		}
		return f.snappy.xerial(dst, src)
	case LZ4:
		return f.deflateLZ4(dst, src)
	case Zstd:
		return f.deflateZstd(dst, src)
	}
	panic("record: there is no encoder for " + c.String())
}

func (f *Deflater) deflateGzip(dst, src []byte) []byte {
	buf := bytes.NewBuffer(dst)
	if f.gzip == nil {
		f.gzip = gzip.NewWriter(buf)
	} else {
		f.gzip.Reset(buf)
	}
	_, err := f.gzip.Write(src)
	mustEncode(err)
	mustEncode(f.gzip.Close())
	return buf.Bytes()
}

// deflateLZ4 writes one frame of independent blocks of 64 KiB, without
// checksums.
func (f *Deflater) deflateLZ4(dst, src []byte) []byte {
	buf := bytes.NewBuffer(dst)
	if f.lz4 == nil {
		f.lz4 = lz4.NewWriter(buf)
		mustEncode(f.lz4.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false), lz4.ConcurrencyOption(1)))
	} else {
		f.lz4.Reset(buf)
	}
	_, err := f.lz4.Write(src)
	mustEncode(err)
	mustEncode(f.lz4.Close())
	return buf.Bytes()
}

func (f *Deflater) deflateZstd(dst, src []byte) []byte {
	if f.zstd == nil {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(zstdWindow), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
		mustEncode(err)
		f.zstd = e
	}
	return f.zstd.EncodeAll(src, dst)
}

// mustEncode panics on an error of an encoder that writes to memory.
func mustEncode(err error) {
	if err != nil {
		panic("record: compression into memory failed: " + err.Error())
	}
}
