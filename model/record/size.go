package record

import "math/bits"

// maxRecordOverhead bounds what a record has besides key, value and headers:
// attributes 1, timestamp delta 10, offset delta 5, length 5 bytes.
const maxRecordOverhead = 21

// varintSize is the size in bytes of v as a zigzag varint.
func varintSize(v int64) int {
	zigzag := uint64(v<<1) ^ uint64(v>>63)
	return (bits.Len64(zigzag|1) + 6) / 7
}

// bytesSize is the size of a nullable byte string with its length.
func bytesSize(b []byte) int {
	if b == nil {
		return varintSize(-1)
	}
	return varintSize(int64(len(b))) + len(b)
}

func headersSize(headers []Header) int {
	n := varintSize(int64(len(headers)))
	for i := range headers {
		n += varintSize(int64(len(headers[i].Key))) + len(headers[i].Key) + bytesSize(headers[i].Value)
	}
	return n
}

func bodySize(offsetDelta int32, timestampDelta int64, key, value []byte, headers []Header) int {
	return 1 + varintSize(timestampDelta) + varintSize(int64(offsetDelta)) +
		bytesSize(key) + bytesSize(value) + headersSize(headers)
}

// SizeOf is the exact size in bytes of one record in a batch.
func SizeOf(offsetDelta int32, timestampDelta int64, key, value []byte, headers []Header) int {
	n := bodySize(offsetDelta, timestampDelta, key, value, headers)
	return varintSize(int64(n)) + n
}

// UpperBound is the largest size in bytes that a batch with this one record can
// have: what a producer compares with max.request.size and batch.size before it
// knows the deltas.
func UpperBound(key, value []byte, headers []Header) int {
	return Overhead + maxRecordOverhead + bytesSize(key) + bytesSize(value) + headersSize(headers)
}
