package client_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node/client/clienttest"
)

func TestAProducerIDComesFromAnyBrokerThatIsThere(t *testing.T) {
	w := clienttest.New(t, 2)
	delete(w.On, clienttest.InitProducerID)
	c := start(t, w)
	w.Advance(time.Second)
	var id kafka.ProducerID
	var epoch kafka.ProducerEpoch
	var code kafka.ErrorCode
	note := func(i kafka.ProducerID, e kafka.ProducerEpoch, c kafka.ErrorCode) { id, epoch, code = i, e, c }
	c.InitProducerID(note)
	w.Run()
	r := w.Take(clienttest.InitProducerID)
	if req := r.Body.(*kmsg.InitProducerIDRequest); req.Version != 5 || req.TransactionalID != nil || req.ProducerID != -1 {
		t.Errorf("request is %+v", req)
	}
	yes := kmsg.NewPtrInitProducerIDResponse()
	yes.ProducerID, yes.ProducerEpoch = 4000, 3
	r.Answer(yes)
	w.Run()
	if id != 4000 || epoch != 3 || code != kafka.None {
		t.Errorf("got %d, epoch %d, %v", id, epoch, code)
	}

	c.InitProducerID(note)
	w.Run()
	no := kmsg.NewPtrInitProducerIDResponse()
	no.ErrorCode = int16(kafka.CoordinatorLoadInProgress)
	w.Take(clienttest.InitProducerID).Answer(no)
	w.Run()
	if code != kafka.CoordinatorLoadInProgress {
		t.Errorf("got %v", code)
	}

	w.Down(1)
	w.Down(2)
	w.Run()
	c.InitProducerID(note)
	if w.Run(); code != kafka.NetworkException {
		t.Errorf("with nobody there: %v", code)
	}
}
