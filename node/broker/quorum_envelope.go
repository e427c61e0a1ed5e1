package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// handleEnvelope answers Envelope, key 58, version 0 (KIP-590): a broker passes
// on a client's request, which is served as if it had come here. An answer of
// NOT_CONTROLLER becomes the envelope's, so that the broker looks for the
// controller instead of telling the client.
func (l *quorumLane) handleEnvelope(m *node.Message, answer answerFunc) {
	seal := func(data []byte, code kafka.ErrorCode) {
		res := kmsg.NewPtrEnvelopeResponse()
		res.ResponseData, res.ErrorCode = data, int16(code)
		answer(res, code)
	}
	inner, err := unpackRequest(m.Request.(*kmsg.EnvelopeRequest).RequestData)
	if err != nil {
		seal(nil, kafka.InvalidRequest)
		return
	}
	a, ok := l.findAPI(inner)
	if !ok || !a.Envelope {
		seal(nil, kafka.UnsupportedVersion)
		return
	}
	a.Handle(l, inner, func(res kmsg.Response, code kafka.ErrorCode) {
		if code == kafka.NotController {
			seal(nil, code)
			return
		}
		seal(packResponse(inner.Reply(res)), kafka.None)
	})
}
