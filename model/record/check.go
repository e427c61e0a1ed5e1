package record

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Errors that callers tell apart.
var (
	// ErrCorrupt: bytes that no writer of batches produces.
	ErrCorrupt = errors.New("corrupt record batch")
	// ErrTruncated: the bytes end inside a batch. At the end of a fetch answer
	// that is usual, at the end of a segment it is a torn write.
	ErrTruncated = errors.New("truncated record batch")
	// ErrCompressed: the records are compressed with a codec that Kafka has not
	// defined.
	ErrCompressed = errors.New("cannot read compressed records")
)

// Next cuts the first batch off buf, which it aliases. It looks at length and
// magic alone: ErrTruncated if buf ends inside the batch (or is empty),
// ErrCorrupt if the bytes cannot begin a batch. Check looks at the rest.
func Next(buf []byte) (b Batch, rest []byte, err error) {
	if len(buf) < LogOverhead {
		return nil, buf, ErrTruncated
	}
	size, err := Size(buf)
	if err != nil {
		return nil, buf, err
	}
	if len(buf) > atMagic && buf[atMagic] != Magic {
		return nil, buf, fmt.Errorf("%w: magic is %d, want %d", ErrCorrupt, int8(buf[atMagic]), Magic)
	}
	if len(buf) < size {
		return nil, buf, ErrTruncated
	}
	return Batch(buf[:size:size]), buf[size:], nil
}

// Size is the whole size in bytes of the batch whose first LogOverhead bytes,
// or more, are in head. ErrCorrupt if no batch is that small.
func Size(head []byte) (int, error) {
	length := int32(binary.BigEndian.Uint32(head[atLength:]))
	if length < Overhead-LogOverhead {
		return 0, fmt.Errorf("%w: length is %d, want at least %d", ErrCorrupt, length, Overhead-LogOverhead)
	}
	return LogOverhead + int(length), nil
}

// Check tells whether b is one whole batch with a right CRC-32C, as every
// broker does before it appends; the error wraps ErrCorrupt. It does not walk
// the records: an Iterator does.
func (b Batch) Check() error {
	switch {
	case len(b) < Overhead:
		return fmt.Errorf("%w: %d bytes, want at least %d", ErrCorrupt, len(b), Overhead)
	case b.Magic() != Magic:
		return fmt.Errorf("%w: magic is %d, want %d", ErrCorrupt, b.Magic(), Magic)
	case int(b.Length()) != len(b)-LogOverhead:
		return fmt.Errorf("%w: length is %d in a batch of %d bytes", ErrCorrupt, b.Length(), len(b))
	}
	if sum := b.checksum(); sum != b.CRC() {
		return fmt.Errorf("%w: CRC is %08x, the bytes give %08x", ErrCorrupt, b.CRC(), sum)
	}
	return nil
}
