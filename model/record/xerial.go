package record

import (
	"bytes"
	"encoding/binary"
)

// Snappy has no stream format of its own, so Kafka's Java client writes that of
// the snappy-java library, named xerial after its maker:
//
//	0x82 S N A P P Y 0x00 · version int32 1 · compatible version int32 1 ·
//	( size int32 · block of that size )...
//
// Integers are big-endian, each block holds 32 KiB but the last. Other clients
// write one bare block, which is told apart by its first bytes: as a block they
// would promise 2 gigabytes.
var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

const (
	xerialHeader = 16       // bytes
	xerialBlock  = 32 << 10 // bytes of content
)

// xerial appends src as a stream of blocks.
func (e *snappyEncoder) xerial(dst, src []byte) []byte {
	dst = append(dst, xerialMagic...)
	dst = append(dst, 0, 0, 0, 1, 0, 0, 0, 1)
	for len(src) > 0 {
		n := min(len(src), xerialBlock)
		size := len(dst)
		dst = e.block(append(dst, 0, 0, 0, 0), src[:n])
		binary.BigEndian.PutUint32(dst[size:], uint32(len(dst)-size-4))
		src = src[n:]
	}
	return dst
}

// inflateSnappy appends the content of a stream, or of a bare block, to dst.
func inflateSnappy(dst, src []byte) ([]byte, error) {
	if !bytes.HasPrefix(src, xerialMagic) {
		return unsnap(dst, src)
	}
	if len(src) < xerialHeader {
		return nil, errSnappy
	}
	for src = src[xerialHeader:]; len(src) > 0; {
		if len(src) < 4 || uint64(binary.BigEndian.Uint32(src)) > uint64(len(src)-4) {
			return nil, errSnappy
		}
		end := 4 + int(binary.BigEndian.Uint32(src))
		var err error
		if dst, err = unsnap(dst, src[4:end]); err != nil {
			return nil, err
		}
		src = src[end:]
	}
	return dst, nil
}
