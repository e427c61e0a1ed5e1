package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// requestHeader is the fixed part: key, version, correlation id, and the length
// of the client id, in bytes.
const requestHeader = 2 + 2 + 4 + 2

// DecodeRequest reads a request's frame, size field included. The message
// aliases the frame, which must not be written while the message lives.
//
// An unknown key or version is an error, for which Kafka closes the connection,
// except ApiVersions: a request in a version that is too new comes back with an
// empty body in that version, to be answered in version 0 (KIP-511).
func DecodeRequest(frame []byte) (*node.Message, error) {
	b, err := body(frame)
	if err != nil {
		return nil, err
	}
	if len(b) < requestHeader {
		return nil, fmt.Errorf("%w: request of %d bytes, its header has at least %d", ErrFrame, len(b), requestHeader)
	}
	key, version := int16(binary.BigEndian.Uint16(b)), int16(binary.BigEndian.Uint16(b[2:]))
	m := &node.Message{CorrelationID: int32(binary.BigEndian.Uint32(b[4:]))}
	m.Request = kmsg.RequestForKey(key)
	if m.Request == nil || key == controlledOffKey && version == 0 {
		return nil, fmt.Errorf("%w: API key %d version %d is unknown", ErrFrame, key, version)
	}
	known := version >= 0 && version <= m.Request.MaxVersion()
	if !known && (key != apiVersions || version < 0) {
		return nil, fmt.Errorf("%w: %s version %d is not between 0 and %d", ErrFrame, name(key), version, m.Request.MaxVersion())
	}
	m.Request.SetVersion(version)
	if m.ClientID, b, err = clientID(b[requestHeader-2:]); err != nil {
		return nil, err
	}
	if !known {
		return m, nil
	}
	if m.Request.IsFlexible() {
		if b, err = skipTags(b); err != nil {
			return nil, err
		}
	}
	if err := m.Request.ReadFrom(b); err != nil {
		return nil, fmt.Errorf("%w: %s v%d request: %v", ErrFrame, name(key), version, err)
	}
	return m, nil
}

// clientID reads a nullable string; null and empty are the same to a broker.
func clientID(b []byte) (string, []byte, error) {
	n := int(int16(binary.BigEndian.Uint16(b)))
	b = b[2:]
	if n < 0 {
		return "", b, nil
	}
	if n > len(b) {
		return "", nil, fmt.Errorf("%w: a client.id of %d bytes, %d follow", ErrFrame, n, len(b))
	}
	return string(b[:n]), b[n:], nil
}

// DecodeResponse reads the frame of a response to a request of this key and
// version. The message aliases the frame.
func DecodeResponse(frame []byte, key, version int16) (*node.Message, error) {
	b, err := body(frame)
	if err != nil {
		return nil, err
	}
	if len(b) < 4 {
		return nil, fmt.Errorf("%w: response of %d bytes, its header has at least 4", ErrFrame, len(b))
	}
	m := &node.Message{CorrelationID: int32(binary.BigEndian.Uint32(b))}
	b = b[4:]
	m.Response = kmsg.ResponseForKey(key)
	if m.Response == nil {
		return nil, fmt.Errorf("%w: API key %d is unknown", ErrFrame, key)
	}
	if key == apiVersions {
		version = apiVersionsAnswer(b, version)
	}
	m.Response.SetVersion(version)
	if m.Response.IsFlexible() && key != apiVersions {
		if b, err = skipTags(b); err != nil {
			return nil, err
		}
	}
	if err := m.Response.ReadFrom(b); err != nil {
		return nil, fmt.Errorf("%w: %s v%d response: %v", ErrFrame, name(key), version, err)
	}
	return m, nil
}

// apiVersionsAnswer is the version that an ApiVersions answer is written in: a
// broker that does not know the asked one says so in version 0.
func apiVersionsAnswer(b []byte, asked int16) int16 {
	if len(b) >= 2 && kafka.ErrorCode(binary.BigEndian.Uint16(b)) == kafka.UnsupportedVersion {
		return 0
	}
	return asked
}
