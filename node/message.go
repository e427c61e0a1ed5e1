package node

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/disk"
)

// Message is one request or response of the Kafka protocol between its header
// and its bytes. Exactly one of Request and Response is set.
type Message struct {
	// CorrelationID pairs a response with its request on a connection.
	CorrelationID int32
	// ClientID is the client.id of a request's header.
	ClientID string
	// Request or Response is the typed body, whose version is set to the
	// negotiated one: both sides know it, a response repeats its request's.
	Request  kmsg.Request
	Response kmsg.Response
	// Regions stand for the record bytes of a Fetch response: one per
	// partition of the response, in order of topics and partitions; a zero
	// region leaves the body's own bytes. They are read at the socket write.
	Regions []disk.Region
}

// Key is the API key of the body.
func (m *Message) Key() int16 {
	if m.Request != nil {
		return m.Request.Key()
	}
	return m.Response.Key()
}

// Version is the API version of the body.
func (m *Message) Version() int16 {
	if m.Request != nil {
		return m.Request.GetVersion()
	}
	return m.Response.GetVersion()
}

// Reply builds the message that answers request m with the body r, in m's
// version.
func (m *Message) Reply(r kmsg.Response) *Message {
	r.SetVersion(m.Version())
	return &Message{CorrelationID: m.CorrelationID, Response: r}
}
