package broker

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/node"
)

// An Envelope (KIP-590) carries a whole request to the controller, and back the
// whole answer, each with its header but without the size in front:
//
//	RequestData  = key int16 · version int16 · correlation id int32 ·
//	               client id string? · [tags if the version is flexible] · body
//	ResponseData = correlation id int32 · [tags if flexible] · body

// noTags is the empty tag section at the end of a flexible header.
const noTags = 0

// packRequest writes the content of EnvelopeRequest.RequestData.
func packRequest(m *node.Message) []byte {
	req := m.Request
	b := binary.BigEndian.AppendUint16(nil, uint16(req.Key()))
	b = binary.BigEndian.AppendUint16(b, uint16(req.GetVersion()))
	b = binary.BigEndian.AppendUint32(b, uint32(m.CorrelationID))
	b = binary.BigEndian.AppendUint16(b, uint16(len(m.ClientID)))
	b = append(b, m.ClientID...)
	if req.IsFlexible() {
		b = append(b, noTags)
	}
	return req.AppendTo(b)
}

// unpackRequest reads what packRequest wrote. The body aliases b.
func unpackRequest(b []byte) (*node.Message, error) {
	const fixed = 10 // key, version, correlation id, length of the client id
	if len(b) < fixed {
		return nil, fmt.Errorf("enveloped request of %d bytes ends in its header", len(b))
	}
	key, version := int16(binary.BigEndian.Uint16(b)), int16(binary.BigEndian.Uint16(b[2:]))
	m := &node.Message{CorrelationID: int32(binary.BigEndian.Uint32(b[4:]))}
	idLen := int(int16(binary.BigEndian.Uint16(b[8:])))
	b = b[fixed:]
	if idLen > len(b) {
		return nil, fmt.Errorf("enveloped request of key %d ends in its client id", key)
	}
	if idLen > 0 { // -1 stands for null
		m.ClientID, b = string(b[:idLen]), b[idLen:]
	}
	req := kmsg.RequestForKey(key)
	if req == nil || version < 0 || version > req.MaxVersion() {
		return nil, fmt.Errorf("enveloped request has key %d version %d, which nobody knows", key, version)
	}
	req.SetVersion(version)
	b, err := skipTags(b, req.IsFlexible())
	if err != nil {
		return nil, fmt.Errorf("enveloped request of key %d: %w", key, err)
	}
	if err := req.ReadFrom(b); err != nil {
		return nil, fmt.Errorf("enveloped request of key %d version %d: %w", key, version, err)
	}
	m.Request = req
	return m, nil
}

// packResponse writes the content of EnvelopeResponse.ResponseData.
func packResponse(m *node.Message) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(m.CorrelationID))
	if m.Response.IsFlexible() {
		b = append(b, noTags)
	}
	return m.Response.AppendTo(b)
}

// unpackResponse reads what packResponse wrote in answer to req.
func unpackResponse(b []byte, req *node.Message) (*node.Message, error) {
	if len(b) < 4 {
		return nil, fmt.Errorf("enveloped response of %d bytes ends in its header", len(b))
	}
	m := &node.Message{CorrelationID: int32(binary.BigEndian.Uint32(b))}
	if m.CorrelationID != req.CorrelationID {
		return nil, fmt.Errorf("enveloped response has correlation id %d, the request had %d", m.CorrelationID, req.CorrelationID)
	}
	res := req.Request.ResponseKind()
	b, err := skipTags(b[4:], res.IsFlexible())
	if err != nil {
		return nil, fmt.Errorf("enveloped response of key %d: %w", res.Key(), err)
	}
	if err := res.ReadFrom(b); err != nil {
		return nil, fmt.Errorf("enveloped response of key %d version %d: %w", res.Key(), res.GetVersion(), err)
	}
	m.Response = res
	return m, nil
}

// skipTags drops the tag section of a flexible header: none is defined.
func skipTags(b []byte, flexible bool) ([]byte, error) {
	if !flexible {
		return b, nil
	}
	count, n := binary.Uvarint(b)
	if n <= 0 {
		return nil, fmt.Errorf("no tag section after the header")
	}
	b = b[n:]
	for range count {
		_, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, fmt.Errorf("the header's tags are cut off")
		}
		size, m := binary.Uvarint(b[n:])
		if m <= 0 || uint64(len(b)-n-m) < size {
			return nil, fmt.Errorf("the header's tags are cut off")
		}
		b = b[n+m+int(size):]
	}
	return b, nil
}
