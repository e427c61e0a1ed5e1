package event

import (
	"encoding/binary"
	"math/bits"

	"tidemark/model/kafka"
)

// HashValue is FNV-1a with 64 bits: the hash by which events name a record's
// value. It is for telling values apart in a trace, not for security.
func HashValue(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// HashNullable is HashValue of a key or value that is there, and 0 of one that is
// null, as a tombstone's value is.
func HashNullable(b []byte) uint64 {
	if b == nil {
		return 0
	}
	return HashValue(b)
}

// NoHeaders is the hash of the headers of a record that has none.
const NoHeaders = 14695981039346656037

// HashHeader takes one more of a record's headers into the hash of those before
// it, NoHeaders for the first: FNV-1a over the length of its key, the key, the
// length of its value, or -1 for null, and the value. Lengths are 4 bytes,
// big-endian, so that no border can move.
func HashHeader(h uint64, key string, value []byte) uint64 {
	h = hashLength(h, len(key))
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * 1099511628211
	}
	if value == nil {
		return hashLength(h, -1)
	}
	h = hashLength(h, len(value))
	for _, c := range value {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

func hashLength(h uint64, n int) uint64 {
	for shift := 24; shift >= 0; shift -= 8 {
		h = (h ^ uint64(uint8(int32(n)>>shift))) * 1099511628211
	}
	return h
}

// Digest is a rolling 64-bit digest of everything that a run did. Two runs
// with equal digests are taken to be the same run.
//
// One step takes a word w of 8 bytes into the state h:
//
//	h ← rotl(((h xor w) + C) × K, 31)        K odd
//
// Every step is a bijection of h for a given w and of w for a given h, so a
// run that differs in one word always ends in another digest. Byte strings are
// cut into little-endian words, the last one padded with zeros, and preceded
// by their length, so no two sequences of calls feed the same words by moving a
// border. Only shifts and 64-bit products are used: the digest is equal on
// every architecture. The zero value is the digest of nothing.
type Digest struct{ h uint64 }

const (
	digestAdd = 0x9e3779b97f4a7c15
	digestMul = 0xd6e8feb86659fd93
)

func step(h, w uint64) uint64 { return bits.RotateLeft64(((h^w)+digestAdd)*digestMul, 31) }

// Uint64 takes one word in.
func (d *Digest) Uint64(w uint64) { d.h = step(d.h, w) }

// Bytes takes a byte string and its length in.
func (d *Digest) Bytes(b []byte) {
	h := step(d.h, uint64(len(b)))
	for len(b) >= 32 {
		h = step(h, binary.LittleEndian.Uint64(b))
		h = step(h, binary.LittleEndian.Uint64(b[8:]))
		h = step(h, binary.LittleEndian.Uint64(b[16:]))
		h = step(h, binary.LittleEndian.Uint64(b[24:]))
		b = b[32:]
	}
	for len(b) >= 8 {
		h = step(h, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	if len(b) > 0 {
		var w uint64
		for i, c := range b {
			w |= uint64(c) << (8 * i)
		}
		h = step(h, w)
	}
	d.h = h
}

// String takes a string and its length in, as Bytes does, without copying it.
func (d *Digest) String(s string) {
	h := step(d.h, uint64(len(s)))
	for ; len(s) >= 8; s = s[8:] {
		h = step(h, uint64(s[0])|uint64(s[1])<<8|uint64(s[2])<<16|uint64(s[3])<<24|
			uint64(s[4])<<32|uint64(s[5])<<40|uint64(s[6])<<48|uint64(s[7])<<56)
	}
	if len(s) > 0 {
		var w uint64
		for i := 0; i < len(s); i++ {
			w |= uint64(s[i]) << (8 * i)
		}
		h = step(h, w)
	}
	d.h = h
}

// Add takes every field of an event in.
func (d *Digest) Add(e *Event) {
	h := d.h
	h = step(h, e.Seq)
	h = step(h, uint64(e.At))
	h = step(h, uint64(e.Kind)|uint64(uint16(e.Acks))<<8|uint64(uint16(e.Code))<<24|flag(e.Drained)<<40|
		flag(e.extended())<<41|flag(e.Session != nil)<<42)
	h = step(h, pair(int32(e.Node), int32(e.Peer)))
	h = step(h, pair(e.Partition, int32(e.Epoch)))
	h = step(h, pair(int32(e.PartitionEpoch), int32(e.Line)))
	h = step(h, uint64(e.Offset))
	h = step(h, uint64(e.End))
	h = step(h, uint64(e.HighWatermark))
	h = step(h, e.Attempt)
	h = step(h, e.Hash)
	h = step(h, pair(int32(len(e.ISR)), int32(len(e.Records))))
	for _, b := range e.ISR {
		h = step(h, uint64(b))
	}
	for i := range e.Records {
		r := &e.Records[i]
		h = step(h, uint64(r.Offset))
		h = step(h, uint64(r.Epoch))
		h = step(h, r.Attempt)
		h = step(h, r.Hash)
		if r.Key != 0 || r.Control != DataRecord {
			h = step(step(h, r.Key), uint64(r.Control)|1<<63)
		}
		if r.Headers != 0 || r.Timestamp != 0 {
			h = step(step(h, r.Headers), uint64(r.Timestamp)|1<<63)
		}
	}
	d.h = h
	d.String(e.Client)
	d.String(e.Topic)
	d.String(e.Text)
	d.addExtended(e)
	d.addSession(e.Session)
}

// extended reports whether one of the fields that few events have is set.
func (e *Event) extended() bool {
	return e.Key != 0 || e.Headers != 0 || e.Timestamp != 0 || e.Source != "" || e.Isolation != ReadUncommitted || e.LastStable != kafka.NoOffset || e.ClockErr != 0
}

func (d *Digest) addExtended(e *Event) {
	if !e.extended() {
		return
	}
	d.h = step(step(step(step(d.h, e.Key), uint64(e.Isolation)), uint64(e.LastStable)), uint64(e.ClockErr))
	d.h = step(step(d.h, e.Headers), uint64(e.Timestamp))
	d.String(e.Source)
}

func (d *Digest) addSession(s *Session) {
	if s == nil {
		return
	}
	d.h = step(step(step(d.h, uint64(s.ProducerID)), pair(int32(s.ProducerEpoch), s.Generation)), s.Txn)
	d.String(s.TransactionalID)
	d.String(s.Group)
	d.String(s.Member)
}

// Sum is the digest of everything taken in so far; more may follow.
func (d *Digest) Sum() uint64 {
	h := d.h
	h = (h ^ h>>32) * digestMul
	return h ^ h>>29
}

func pair(hi, lo int32) uint64 { return uint64(uint32(hi))<<32 | uint64(uint32(lo)) }

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
