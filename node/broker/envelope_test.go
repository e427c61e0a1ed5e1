package broker

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/node"
)

func TestEnvelopeKeepsRequestAndResponseInEveryVersion(t *testing.T) {
	for _, version := range []int16{2, 4, 5, 7} { // headers with tags from 5 on
		req := kmsg.NewPtrCreateTopicsRequest()
		req.Version = version
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "orders", 3, 2
		req.Topics = append(req.Topics, topic)
		in := &node.Message{CorrelationID: 42, ClientID: "admin", Request: req}
		out, err := unpackRequest(packRequest(in))
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		if out.CorrelationID != 42 || out.ClientID != "admin" {
			t.Errorf("version %d: header %+v", version, out)
		}
		if diff := cmp.Diff(req.AppendTo(nil), out.Request.AppendTo(nil)); diff != "" {
			t.Errorf("version %d: body %s", version, diff)
		}
		answer := in.Reply(kmsg.NewPtrCreateTopicsResponse())
		back, err := unpackResponse(packResponse(answer), in)
		if err != nil || back.Version() != version || back.CorrelationID != 42 {
			t.Errorf("version %d: response %+v, %v", version, back, err)
		}
	}
}

func TestEnvelopeThatIsCutOffIsAnErrorNeverAPanic(t *testing.T) {
	req := kmsg.NewPtrElectLeadersRequest()
	req.Version = 2
	in := &node.Message{CorrelationID: 1, ClientID: "admin", Request: req}
	whole := packRequest(in)
	for n := range whole {
		if _, err := unpackRequest(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes were taken for a request", n, len(whole))
		}
	}
	answer := packResponse(in.Reply(kmsg.NewPtrElectLeadersResponse()))
	for n := range answer {
		if _, err := unpackResponse(answer[:n], in); err == nil {
			t.Errorf("%d of %d bytes were taken for a response", n, len(answer))
		}
	}
}
