package record_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

func TestATransactionMarkerIsATransactionalControlBatchWithoutSequence(t *testing.T) {
	b := record.EndTransaction{Type: record.Commit, CoordinatorEpoch: 0x01020304}.Batch(7, 2, 1700000000000)
	if err := b.Check(); err != nil {
		t.Fatal(err)
	}
	if !b.IsControl() || !b.IsTransactional() || b.ProducerID() != 7 || b.ProducerEpoch() != 2 || b.BaseSequence() != record.NoSequence || b.Count() != 1 {
		t.Fatalf("control %t, transactional %t, producer %d/%d, sequence %d, %d records",
			b.IsControl(), b.IsTransactional(), b.ProducerID(), b.ProducerEpoch(), b.BaseSequence(), b.Count())
	}
	r := collect(t, b)[0]
	if diff := cmp.Diff(unhex("0000 0001"), r.Key); diff != "" {
		t.Errorf("key (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(unhex("0000 01020304"), r.Value); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
}

func TestATransactionMarkerRoundTrips(t *testing.T) {
	for _, want := range []record.EndTransaction{{record.Abort, 0}, {record.Commit, 1<<31 - 1}} {
		got, ok, err := record.ParseEndTransaction(want.Batch(1, 0, 5))
		if err != nil || !ok || got != want {
			t.Errorf("%+v: got %+v, %t, %v", want, got, ok, err)
		}
	}
}

func TestOtherControlBatchesEndNoTransaction(t *testing.T) {
	change := record.LeaderChange{Leader: 1}.Batch(0, 1, 5)
	if _, ok, err := record.ParseEndTransaction(change); ok || err != nil {
		t.Errorf("leader change: %t, %v", ok, err)
	}
	o := record.NoProducer()
	o.Control = true
	w := record.NewBuilder(o)
	w.Append(5, []byte{0, 0, 0, 0}, []byte{0, 0, 1}, nil)
	if _, ok, err := record.ParseEndTransaction(w.Build()); ok || !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("short value: %t, %v", ok, err)
	}
	w.Reset(record.BuilderOptions{ProducerID: kafka.NoProducerID, Control: true})
	w.Append(5, []byte{0}, nil, nil)
	if _, ok, err := record.ParseEndTransaction(w.Build()); ok || !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("short key: %t, %v", ok, err)
	}
}
