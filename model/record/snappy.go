package record

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// A snappy block is the size of its content as a varint, then elements. The two
// low bits of an element's first byte, its tag, say what it is.
//
//	00 literal   length-1 in the 6 high bits; 60 to 63 there: in 1 to 4 bytes
//	             that follow, little-endian; then the bytes
//	01 copy      length-4 in 3 bits, offset in 3 bits and 1 byte
//	10 copy      length-1 in 6 bits, offset in 2 bytes, little-endian
//	11 copy      the same with 4 bytes
//
// The encoder is in Go alone. Those of the usual libraries are in assembly where
// there is one, which finds other matches than their Go code: a simulation would
// have other bytes on another machine.
const (
	snappyLiteral = 0
	snappyCopy1   = 1
	snappyCopy2   = 2
	snappyCopy4   = 3
)

const (
	snappyTableBits = 14
	snappyMinMatch  = 4
	// snappyMaxBlock is the largest block of the encoder in bytes, so that a
	// position fits 16 bits.
	snappyMaxBlock = 1 << 16
)

var errSnappy = errors.New("these bytes are no snappy block")

// snappyEncoder holds the position at which four bytes were last seen, by hash.
type snappyEncoder struct {
	seen [1 << snappyTableBits]uint16
}

func snappyHash(v uint32) uint32 { return v * 0x9e3779b1 >> (32 - snappyTableBits) }

// block appends src, of at most snappyMaxBlock bytes, as one block.
func (e *snappyEncoder) block(dst, src []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(src)))
	clear(e.seen[:])
	done, misses := 0, 0 // bytes written; steps since the last match
	for at := 1; at+snappyMinMatch <= len(src); {
		v := binary.LittleEndian.Uint32(src[at:])
		h := snappyHash(v)
		from := int(e.seen[h])
		e.seen[h] = uint16(at)
		if binary.LittleEndian.Uint32(src[from:]) != v {
			// What did not match for long will hardly do so soon: look at
			// fewer places.
			misses++
			at += 1 + misses/32
			continue
		}
		n := snappyMinMatch + commonPrefix(src[from+snappyMinMatch:], src[at+snappyMinMatch:])
		dst = appendSnappyLiteral(dst, src[done:at])
		dst = appendSnappyCopy(dst, at-from, n)
		at += n
		done, misses = at, 0
	}
	return appendSnappyLiteral(dst, src[done:])
}

// commonPrefix is how many bytes of b, which is the shorter, a begins with.
func commonPrefix(a, b []byte) int {
	n := 0
	for n+8 <= len(b) {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
		n += 8
	}
	for n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func appendSnappyLiteral(dst, b []byte) []byte {
	n := len(b) - 1
	switch {
	case n < 0:
		return dst
	case n < 60:
		dst = append(dst, byte(n)<<2|snappyLiteral)
	case n < 1<<8:
		dst = append(dst, 60<<2|snappyLiteral, byte(n))
	default:
		dst = append(dst, 61<<2|snappyLiteral, byte(n), byte(n>>8))
	}
	return append(dst, b...)
}

// appendSnappyCopy writes a copy of n ≥ 4 bytes, as several if it is long. None
// of them is left shorter than the least that the short form can say.
func appendSnappyCopy(dst []byte, offset, n int) []byte {
	for n > 64 {
		part := min(64, n-snappyMinMatch)
		dst = append(dst, byte(part-1)<<2|snappyCopy2, byte(offset), byte(offset>>8))
		n -= part
	}
	if n < 12 && offset < 1<<11 {
		return append(dst, byte(offset>>8)<<5|byte(n-4)<<2|snappyCopy1, byte(offset))
	}
	return append(dst, byte(n-1)<<2|snappyCopy2, byte(offset), byte(offset>>8))
}

// unsnap appends the content of a block to dst, which holds no more than
// MaxInflated bytes then.
func unsnap(dst, src []byte) ([]byte, error) {
	size, n := binary.Uvarint(src)
	if n <= 0 || size > uint64(len(src))*64 {
		return nil, errSnappy // no element stands for more than 64 bytes a byte
	}
	if size > uint64(MaxInflated-len(dst)) {
		return nil, errInflated
	}
	start, end := len(dst), len(dst)+int(size)
	if cap(dst) < end {
		grown := make([]byte, start, max(end, 2*cap(dst)))
		copy(grown, dst)
		dst = grown
	}
	for src = src[n:]; len(src) > 0; {
		element, ok := snappyElement(src)
		if !ok || len(dst)+element.length > end || element.offset > len(dst)-start {
			return nil, errSnappy
		}
		src = src[element.head:]
		if element.offset == 0 {
			dst = append(dst, src[:element.length]...)
			src = src[element.length:]
			continue
		}
		dst = appendOverlap(dst, element.offset, element.length)
	}
	if len(dst) != end {
		return nil, errSnappy
	}
	return dst, nil
}

// snappyTag is a decoded element: a literal if its offset is 0.
type snappyTag struct {
	head, offset, length int
}

// snappyElement reads the element that src begins with; false if src ends
// inside it, or if it copies from offset 0.
func snappyElement(src []byte) (e snappyTag, ok bool) {
	var extra [4]byte
	copy(extra[:], src[1:])
	high := int(src[0] >> 2)
	switch src[0] & 3 {
	case snappyLiteral:
		e.head = 1
		if high >= 60 {
			e.head += high - 59
			high = int(binary.LittleEndian.Uint32(extra[:]) & (1<<(8*(e.head-1)) - 1))
		}
		e.length = high + 1
		return e, e.length > 0 && e.head <= len(src) && e.length <= len(src)-e.head
	case snappyCopy1:
		e = snappyTag{2, high>>3<<8 | int(extra[0]), high&7 + 4}
	case snappyCopy2:
		e = snappyTag{3, int(binary.LittleEndian.Uint16(extra[:])), high + 1}
	case snappyCopy4:
		e = snappyTag{5, int(binary.LittleEndian.Uint32(extra[:])), high + 1}
	}
	return e, e.offset > 0 && e.head <= len(src)
}

// appendOverlap appends n bytes from offset bytes before the end of dst. If that
// is less than n, what is appended is copied again, as if byte by byte.
func appendOverlap(dst []byte, offset, n int) []byte {
	from := len(dst) - offset
	for n > 0 {
		part := min(n, len(dst)-from)
		dst = append(dst, dst[from:from+part]...)
		n -= part
	}
	return dst
}
