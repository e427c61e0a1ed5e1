package controller

import (
	"math"
	"testing"

	"tidemark/model/kafka"
	"tidemark/node/metadata"
)

func TestABlockOfProducerIDsIsGivenOutOnceItsRecordIsCommitted(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	b1, _ := w.Image().Broker(1)
	b2, _ := w.Image().Broker(2)
	got := map[kafka.BrokerID][]kafka.ProducerID{}
	ask := func(b *metadata.BrokerImage) {
		w.AllocateProducerIDs(b.ID, b.Epoch, func(code kafka.ErrorCode, first kafka.ProducerID) {
			if code != kafka.None {
				t.Errorf("broker %d: %s", b.ID, code)
			}
			got[b.ID] = append(got[b.ID], first)
		})
	}
	ask(b1)
	ask(b2)
	ask(b1)
	if len(got) > 0 {
		t.Fatalf("given out before the commit: %v", got)
	}
	w.commit()
	if len(got[1]) != 2 || got[1][0] != 0 || got[1][1] != 2000 || len(got[2]) != 1 || got[2][0] != 1000 {
		t.Fatalf("blocks begin at %v", got)
	}
	records := w.log.batches[len(w.log.batches)-1].Records
	if want := (metadata.ProducerIDs{BrokerID: 1, BrokerEpoch: b1.Epoch, NextProducerID: 3000}); records[0] != metadata.Record(want) {
		t.Errorf("last record is %+v, want %+v", records[0], want)
	}
}

func TestABlockWhoseRecordWasLostIsGivenOutByTheNextController(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	b, _ := w.Image().Broker(1)
	var codes []kafka.ErrorCode
	w.AllocateProducerIDs(1, b.Epoch, func(code kafka.ErrorCode, _ kafka.ProducerID) { codes = append(codes, code) })
	w.HandleLeaderChange(102, 2)
	w.AllocateProducerIDs(1, b.Epoch, func(code kafka.ErrorCode, _ kafka.ProducerID) { codes = append(codes, code) })
	if len(codes) != 2 || codes[0] != kafka.NotController || codes[1] != kafka.NotController {
		t.Fatalf("answered %v", codes)
	}
	if next := w.Image().NextProducerID(); next != 0 {
		t.Errorf("the next block begins at %d, want 0", next)
	}
}

func TestProducerIDsAreForRegisteredBrokersAndEnd(t *testing.T) {
	w := newWorld(t, elr).threeBrokers()
	b, _ := w.Image().Broker(1)
	ask := func(id kafka.BrokerID, epoch kafka.BrokerEpoch) (code kafka.ErrorCode) {
		w.AllocateProducerIDs(id, epoch, func(c kafka.ErrorCode, _ kafka.ProducerID) { code = c })
		w.commit()
		return code
	}
	if code := ask(1, b.Epoch-1); code != kafka.StaleBrokerEpoch {
		t.Errorf("an old life: %s", code)
	}
	if code := ask(9, 1); code != kafka.StaleBrokerEpoch {
		t.Errorf("an unknown broker: %s", code)
	}
	w.write(result{records: []metadata.Record{metadata.ProducerIDs{BrokerID: 1, BrokerEpoch: b.Epoch, NextProducerID: math.MaxInt64 - ProducerIDBlock}}}, func(kafka.ErrorCode) {})
	if code := ask(1, b.Epoch); code != kafka.None {
		t.Errorf("the last block: %s", code)
	}
	if code := ask(1, b.Epoch); code != kafka.UnknownServerError {
		t.Errorf("behind the last block: %s", code)
	}
}
