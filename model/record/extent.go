package record

import (
	"math"

	"tidemark/model/kafka"
)

// Extent is what a leader must know of all records of a batch before it stores them.
type Extent struct {
	Earliest, Latest kafka.Timestamp // of the records, ms
	Keyless          bool            // a record has no key
}

// Extent looks at every record of a batch whose records are not compressed and bear
// their producers' timestamps, as nearly all are that a leader is sent, in a third of
// the time that an Iterator takes. It is not ok for any other batch, one without
// records, and one whose records do not decode: then an Iterator finds out what is
// the matter.
func (b Batch) Extent() (e Extent, ok bool) {
	left := b.Count()
	if left <= 0 || b.Compression() != None || b.TimestampType() != CreateTime {
		return Extent{}, false
	}
	earliest, latest := int64(math.MaxInt64), int64(math.MinInt64)
	base := int64(b.BaseTimestamp())
	rest := []byte(b[Overhead:])
	for ; left > 0; left-- {
		size, at := number(rest, 0)
		if size < smallest || size > int64(len(rest)-at) {
			return Extent{}, false
		}
		r := rest[at : at+int(size)]
		rest = rest[at+int(size):]
		since, at := number(r, 1) // byte 0 are the attributes of a record: unused, 0
		delta, at := number(r, at)
		key, at := number(r, at)
		at = past(r, at, key)
		value, at := number(r, at)
		if at = past(r, at, value); at == len(r)-1 && r[at] == 0 { // no headers
			at++
		} else {
			at = pastHeaders(r, at)
		}
		if at != len(r) || delta != int64(int32(delta)) {
			return Extent{}, false
		}
		earliest, latest = min(earliest, base+since), max(latest, base+since)
		e.Keyless = e.Keyless || key < 0
	}
	e.Earliest, e.Latest = kafka.Timestamp(earliest), kafka.Timestamp(latest)
	return e, len(rest) == 0
}

// smallest is the size of a record whose numbers take a byte each, behind its length.
const smallest = 6

// nowhere is a place in no record: what is read there leads nowhere too.
const nowhere = math.MaxInt32 + 1

// number reads the number at a place and returns the place behind it. Most take one
// byte or two.
func number(p []byte, at int) (int64, int) {
	if uint(at) >= uint(len(p)) {
		return 0, nowhere
	}
	c := uint64(p[at])
	if at++; c < 0x80 {
		return zigzag(c), at
	}
	if at >= len(p) {
		return 0, nowhere
	}
	d := uint64(p[at])
	if at++; d < 0x80 {
		return zigzag(c&0x7f | d<<7), at
	}
	return longNumber(p, at, c&0x7f|d&0x7f<<7)
}

// longNumber reads on behind the first two bytes of a number, which gave v.
func longNumber(p []byte, at int, v uint64) (int64, int) {
	for shift := 14; at < len(p) && shift < 63; shift += 7 {
		c := uint64(p[at])
		at++
		v |= c & 0x7f << shift
		if c < 0x80 {
			return zigzag(v), at
		}
	}
	return 0, nowhere // ends early, or has ten bytes
}

func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// past is the place behind n bytes, none if n is below 0.
func past(p []byte, at int, n int64) int {
	if n < math.MinInt32 || n > int64(len(p)-at) {
		return nowhere
	}
	return at + int(max(n, 0))
}

// pastHeaders is the place behind the headers and their number at a place.
func pastHeaders(p []byte, at int) int {
	n, at := number(p, at)
	if n < 0 || n > int64(len(p)) {
		return nowhere
	}
	for ; n > 0 && at <= len(p); n-- {
		key, after := number(p, at)
		if key < 0 {
			return nowhere
		}
		value, after := number(p, past(p, after, key))
		at = past(p, after, value)
	}
	return at
}
