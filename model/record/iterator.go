package record

import (
	"encoding/binary"
	"fmt"
	"math"

	"tidemark/model/kafka"
)

// Iterator walks the records of a batch without allocating, once its header
// slice has grown. The zero value is an iterator at its end; Reset starts it.
type Iterator struct {
	batch   Batch
	rest    []byte // not decoded yet
	left    int32  // records that the batch still promises
	rec     Record
	headers []Header
	err     error
}

// Reset starts the iterator at the first record of b. Compressed records are
// read by an Inflater of their own, and stay valid.
func (it *Iterator) Reset(b Batch) {
	var f *Inflater // not asked for uncompressed records
	if b.Compression() != None {
		f = new(Inflater)
	}
	it.ResetWith(f, b)
}

// ResetWith does the same with an Inflater that the caller keeps: compressed
// records are valid until it is used again, or for ever after its Detach.
func (it *Iterator) ResetWith(f *Inflater, b Batch) {
	it.batch, it.left = b, b.Count()
	it.rest, it.err = f.Records(b)
}

// Next moves to the next record and reports whether there is one; at the end
// or after an error it reports false.
func (it *Iterator) Next() bool {
	if it.err != nil {
		return false
	}
	if it.left <= 0 {
		if len(it.rest) > 0 || it.left < 0 {
			it.fail("does not end where its count says")
		}
		return false
	}
	it.left--
	if !it.read() {
		it.fail("does not decode")
		return false
	}
	return true
}

// Record is the record that Next moved to. Its slices alias the batch, or what
// its records decompressed to; Headers is reused by Next.
func (it *Iterator) Record() Record { return it.rec }

// Err is the error that ended the walk early; nil at the end of a sound batch.
func (it *Iterator) Err() error { return it.err }

func (it *Iterator) fail(what string) {
	if it.err == nil {
		it.err = fmt.Errorf("%w: record %d of the batch at offset %d %s", ErrCorrupt,
			it.batch.Count()-it.left, it.batch.BaseOffset(), what)
	}
}

// read reads the next record into it.rec. A leader does that with every record that
// it is sent, so it goes by places in the buffer, not by a decoder's calls.
func (it *Iterator) read() bool {
	buf := it.rest
	size, at := varlong(buf, 0)
	if at < 0 || size < 1 || size > int64(len(buf)-at) {
		return false
	}
	it.rest = buf[at+int(size):]
	buf = buf[at : at+int(size)]
	since, at := varlong(buf, 1) // byte 0 are the attributes of a record: unused, 0
	delta, at := varlong(buf, at)
	r := &it.rec
	r.Timestamp = it.batch.BaseTimestamp() + kafka.Timestamp(since)
	if it.batch.TimestampType() == LogAppendTime {
		r.Timestamp = it.batch.MaxTimestamp()
	}
	r.Offset = it.batch.BaseOffset() + kafka.Offset(delta)
	r.Key, at = bytesAt(buf, at)
	r.Value, at = bytesAt(buf, at)
	r.Headers = nil
	headers, at := varlong(buf, at)
	if delta != int64(int32(delta)) {
		return false
	}
	if headers != 0 {
		at = it.readHeaders(headers, buf, at)
	}
	return at == len(buf)
}

// varlong reads the zigzag number at a place and returns the place behind it, below
// 0 if there is none. Most numbers take one byte or two.
func varlong(buf []byte, at int) (int64, int) {
	if uint(at) < uint(len(buf)) {
		v := uint64(buf[at])
		if v < 0x80 {
			return int64(v>>1) ^ -int64(v&1), at + 1
		}
		if at++; at < len(buf) && buf[at] < 0x80 {
			v = v&0x7f | uint64(buf[at])<<7
			return int64(v>>1) ^ -int64(v&1), at + 1
		}
		at--
	}
	return longer(buf, at)
}

func longer(buf []byte, at int) (int64, int) {
	if at < 0 {
		return 0, -1
	}
	v, n := binary.Varint(buf[min(at, len(buf)):])
	if n <= 0 {
		return 0, -1
	}
	return v, at + n
}

// bytesAt reads bytes behind their length, null for one below 0.
func bytesAt(buf []byte, at int) ([]byte, int) {
	n, at := varlong(buf, at)
	switch {
	case at < 0 || n > int64(len(buf)-at) || n < math.MinInt32:
		return nil, -1
	case n < 0:
		return nil, at
	}
	end := at + int(n)
	return buf[at:end:end], end
}

// readHeaders reads n headers at a place and returns the place behind them, below 0
// if there is none.
func (it *Iterator) readHeaders(n int64, buf []byte, at int) int {
	// A header takes two bytes at least, which bounds n before it is believed.
	if at < 0 || n < 0 || n > int64(len(buf)-at)/2 {
		return -1
	}
	for int64(len(it.headers)) < n {
		it.headers = append(it.headers, Header{})
	}
	for i := range it.headers[:n] {
		h := &it.headers[i]
		var key []byte
		if key, at = bytesAt(buf, at); key == nil {
			return -1
		}
		// Most records of a topic carry the same keys: an equal one is kept,
		// so that walking allocates nothing.
		if h.Key != string(key) {
			h.Key = string(key)
		}
		h.Value, at = bytesAt(buf, at)
	}
	it.rec.Headers = it.headers[:n:n]
	return at
}
