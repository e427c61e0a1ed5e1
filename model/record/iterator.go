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
	*it = Iterator{batch: b, left: b.Count(), headers: it.headers}
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
	body, ok := it.frame()
	if !ok || !it.decode(body) {
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

// frame cuts the next record's body off the rest.
func (it *Iterator) frame() (body []byte, ok bool) {
	d := decoder{buf: it.rest}
	body = d.bytes(d.varint())
	it.rest = d.buf
	return body, !d.bad && body != nil
}

// decode reads one record's body into it.rec.
func (it *Iterator) decode(body []byte) bool {
	d := decoder{buf: body}
	d.bytes(1) // attributes of a record: unused, 0
	r := &it.rec
	r.Timestamp = it.batch.BaseTimestamp() + kafka.Timestamp(d.varlong())
	if it.batch.TimestampType() == LogAppendTime {
		r.Timestamp = it.batch.MaxTimestamp()
	}
	r.Offset = it.batch.BaseOffset() + kafka.Offset(d.varint())
	r.Key = d.bytes(d.varint())
	r.Value = d.bytes(d.varint())
	it.decodeHeaders(&d)
	return !d.bad && len(d.buf) == 0
}

func (it *Iterator) decodeHeaders(d *decoder) {
	n := int(d.varint())
	// A header takes two bytes at least, which bounds n before it is believed.
	if n < 0 || n > len(d.buf)/2 {
		d.bad = true
		n = 0
	}
	if n == 0 {
		it.rec.Headers = nil
		return
	}
	for len(it.headers) < n {
		it.headers = append(it.headers, Header{})
	}
	for i := range it.headers[:n] {
		h := &it.headers[i]
		key := d.bytes(d.varint())
		if key == nil {
			d.bad = true
		}
		// Most records of a topic carry the same keys: an equal one is kept,
		// so that walking allocates nothing.
		if h.Key != string(key) {
			h.Key = string(key)
		}
		h.Value = d.bytes(d.varint())
	}
	it.rec.Headers = it.headers[:n:n]
}

// decoder reads a record's fields; after a field that does not fit it is bad
// and gives zeros.
type decoder struct {
	buf []byte
	bad bool
}

func (d *decoder) varlong() int64 {
	v, n := binary.Varint(d.buf)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.buf = d.buf[n:]
	return v
}

func (d *decoder) varint() int32 {
	v := d.varlong()
	if v < math.MinInt32 || v > math.MaxInt32 {
		d.bad = true
		return 0
	}
	return int32(v)
}

// bytes takes n bytes; a negative n is null.
func (d *decoder) bytes(n int32) []byte {
	if n < 0 || d.bad {
		return nil
	}
	if int(n) > len(d.buf) {
		d.bad = true
		return nil
	}
	b := d.buf[:n:n]
	d.buf = d.buf[n:]
	return b
}
