package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/node"
)

// Pending holds the requests that a connection's dialling side awaits answers
// for, oldest first: Kafka answers a connection's requests in order. The zero
// value is ready.
type Pending struct {
	awaited []awaited
	head    int
}

type awaited struct {
	correlation  int32
	key, version int16
}

// Sent notes a request that went out. One with acks=0 gets no answer.
func (p *Pending) Sent(m *node.Message) {
	if r, ok := m.Request.(*kmsg.ProduceRequest); ok && r.Acks == 0 {
		return
	}
	if p.head > 0 && len(p.awaited) == cap(p.awaited) {
		n := copy(p.awaited, p.awaited[p.head:])
		p.awaited, p.head = p.awaited[:n], 0
	}
	p.awaited = append(p.awaited, awaited{m.CorrelationID, m.Key(), m.Version()})
}

// Len is the number of requests that await an answer.
func (p *Pending) Len() int { return len(p.awaited) - p.head }

// Decode reads the frame of the answer to the oldest request. A frame that
// answers another one is an error: the connection cannot be trusted any more.
func (p *Pending) Decode(frame []byte) (*node.Message, error) {
	if p.Len() == 0 {
		return nil, fmt.Errorf("%w: a response, and no request awaits one", ErrFrame)
	}
	a := p.awaited[p.head]
	if b, err := body(frame); err != nil {
		return nil, err
	} else if len(b) >= 4 && int32(binary.BigEndian.Uint32(b)) != a.correlation {
		return nil, fmt.Errorf("%w: response to correlation id %d, the oldest request has %d",
			ErrFrame, int32(binary.BigEndian.Uint32(b)), a.correlation)
	}
	m, err := DecodeResponse(frame, a.key, a.version)
	if err == nil {
		p.head++
	}
	return m, err
}
