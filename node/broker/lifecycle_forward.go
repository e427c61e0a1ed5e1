package broker

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// forwardPatience is how long a forwarded request may look for a controller.
const forwardPatience = 60 * time.Second

// forwardRequest wraps a client's request in an Envelope (KIP-590, key 58,
// version 0) for the active controller and hands the answer back to the router.
func (l *lifecycle) forwardRequest(from node.Lane, f forwardPost) {
	r := kmsg.NewPtrEnvelopeRequest()
	r.Version = envelopeVersion
	r.RequestData = packRequest(f.Request)
	r.RequestPrincipal = anonymous
	r.ClientHostAddress = loopback
	l.forward.send(r, func(res kmsg.Response) {
		l.env.Post(from, forwardedPost{ID: f.ID, Response: openEnvelope(res, f.Request)})
	})
}

// anonymous is the principal of an unauthenticated client in Kafka's
// DefaultPrincipalData, version 0: a flexible struct of type, name and a flag
// for delegation tokens, after its version.
var anonymous = []byte("\x00\x00\x05User\x0aANONYMOUS\x00\x00")

// openEnvelope takes the answer out, nil if there is none that can be read.
func openEnvelope(res kmsg.Response, req *node.Message) *node.Message {
	e, ok := res.(*kmsg.EnvelopeResponse)
	if !ok || kafka.ErrorCode(e.ErrorCode) != kafka.None {
		return nil
	}
	m, err := unpackResponse(e.ResponseData, req)
	if err != nil {
		return nil
	}
	return m
}
