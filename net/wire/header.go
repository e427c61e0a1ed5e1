package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/node"
)

// MaxFrame is the largest frame that is decoded, without its size field, in
// bytes: the default of socket.request.max.bytes.
const MaxFrame = 100 << 20

// ErrFrame is wrapped by every error that a frame's own bytes cause.
var ErrFrame = errors.New("bad frame")

const (
	sizeBytes        = 4
	apiVersions      = 18
	controlledOffKey = 7 // ControlledShutdown; its version 0 has a header of its own, gone since Kafka 0.9
)

// appendHeader appends the size field, still zero, and m's header.
func appendHeader(dst []byte, m *node.Message) ([]byte, error) {
	if m.Request == nil {
		dst = append(dst, 0, 0, 0, 0)
		dst = binary.BigEndian.AppendUint32(dst, uint32(m.CorrelationID))
		if m.Response.IsFlexible() && m.Response.Key() != apiVersions {
			dst = append(dst, 0)
		}
		return dst, nil
	}
	if len(m.ClientID) > math.MaxInt16 {
		return dst, fmt.Errorf("encode %s request: client.id has %d bytes, at most %d fit", name(m.Key()), len(m.ClientID), math.MaxInt16)
	}
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint16(dst, uint16(m.Key()))
	dst = binary.BigEndian.AppendUint16(dst, uint16(m.Version()))
	dst = binary.BigEndian.AppendUint32(dst, uint32(m.CorrelationID))
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(m.ClientID)))
	dst = append(dst, m.ClientID...)
	if m.Request.IsFlexible() {
		dst = append(dst, 0)
	}
	return dst, nil
}

// body checks the size field and returns the rest of a frame.
func body(frame []byte) ([]byte, error) {
	if len(frame) < sizeBytes {
		return nil, fmt.Errorf("%w: %d bytes, a frame begins with a size of 4", ErrFrame, len(frame))
	}
	size := int32(binary.BigEndian.Uint32(frame))
	if size < 0 || size > MaxFrame {
		return nil, fmt.Errorf("%w: size %d is not between 0 and %d", ErrFrame, size, MaxFrame)
	}
	if int(size) != len(frame)-sizeBytes {
		return nil, fmt.Errorf("%w: size says %d bytes, %d follow", ErrFrame, size, len(frame)-sizeBytes)
	}
	return frame[sizeBytes:], nil
}

// skipTags returns what follows a tag section.
func skipTags(b []byte) ([]byte, error) {
	count, b, err := uvarint(b)
	for ; err == nil && count > 0; count-- {
		var size uint64
		if _, b, err = uvarint(b); err != nil {
			break
		}
		if size, b, err = uvarint(b); err != nil {
			break
		}
		if size > uint64(len(b)) {
			return nil, fmt.Errorf("%w: a header tag of %d bytes, %d follow", ErrFrame, size, len(b))
		}
		b = b[size:]
	}
	return b, err
}

func uvarint(b []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(b)
	if n <= 0 || v > math.MaxUint32 {
		return 0, nil, fmt.Errorf("%w: the header's tags end early", ErrFrame)
	}
	return v, b[n:], nil
}

func name(key int16) string { return kmsg.NameForKey(key) }
