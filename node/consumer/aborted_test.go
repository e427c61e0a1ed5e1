package consumer

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node/client"
	"tidemark/node/client/clienttest"
)

// logOf lays batches one behind the other from offset 0 on.
func logOf(batches ...record.Batch) (log []byte) {
	next := kafka.Offset(0)
	for _, b := range batches {
		b.SetBaseOffset(next)
		next = b.NextOffset()
		log = append(log, b...)
	}
	return log
}

func data(id kafka.ProducerID, transactional bool, value string) record.Batch {
	o := record.NoProducer()
	if id != kafka.NoProducerID {
		o.ProducerID, o.ProducerEpoch, o.BaseSequence, o.Transactional = id, 0, 0, transactional
	}
	w := record.NewBuilder(o)
	w.Append(1000, nil, []byte(value), nil)
	return w.Build()
}

func marker(id kafka.ProducerID, typ record.ControlType) record.Batch {
	return record.EndTransaction{Type: typ}.Batch(id, 0, 1000)
}

// seen is what a consumer gets of an answer, from a position on.
func seen(t *testing.T, level client.Isolation, log []byte, from kafka.Offset, aborted ...client.AbortedTransaction) (values []string, next kafka.Offset) {
	t.Helper()
	f := newFetched(client.Fetched{Records: log, Aborted: aborted}, from, level, new(record.Inflater))
	recs, err := f.take(100, true)
	if err != nil || !f.done {
		t.Fatalf("done %t, %v", f.done, err)
	}
	for _, r := range recs {
		values = append(values, string(r.Value))
	}
	return values, f.next
}

func TestReadCommittedReturnsNothingOfAbortedTransactions(t *testing.T) {
	log := logOf(
		data(kafka.NoProducerID, false, "plain"), // 0
		data(7, true, "aborted"),                 // 1
		data(8, true, "committed"),               // 2
		data(7, true, "aborted too"),             // 3
		marker(7, record.Abort),                  // 4
		data(7, true, "the next one's"),          // 5
		marker(8, record.Commit),                 // 6
		data(9, false, "idempotent alone"),       // 7
		marker(7, record.Commit),                 // 8
		data(8, true, "aborted later"),           // 9
		data(7, true, "open elsewhere"),          // 10
		marker(8, record.Abort),                  // 11
	)
	later, first := client.AbortedTransaction{ProducerID: 8, First: 9}, client.AbortedTransaction{ProducerID: 7, First: 1}
	got, next := seen(t, client.ReadCommitted, log, 0, later, first) // in any order
	want := []string{"plain", "committed", "the next one's", "idempotent alone", "open elsewhere"}
	if diff := cmp.Diff(want, got); diff != "" || next != 12 {
		t.Fatalf("position %d, values (-want +got):\n%s", next, diff)
	}
	if got, next := seen(t, client.ReadUncommitted, log, 0); len(got) != 8 || next != 12 {
		t.Fatalf("read_uncommitted: %v, position %d", got, next)
	}
}

func TestAnAbortedTransactionThatBeganBeforeTheAnswerIsKnownFromTheList(t *testing.T) {
	log := logOf(data(7, true, "aborted"), marker(7, record.Abort), data(7, true, "committed"))
	got, next := seen(t, client.ReadCommitted, log, 0, client.AbortedTransaction{ProducerID: 7, First: -5})
	if diff := cmp.Diff([]string{"committed"}, got); diff != "" || next != 3 {
		t.Fatalf("position %d, values (-want +got):\n%s", next, diff)
	}
}

func TestABatchOutsideATransactionIsNeverDropped(t *testing.T) {
	log := logOf(data(7, true, "aborted"), data(7, false, "outside"), marker(7, record.Abort))
	got, _ := seen(t, client.ReadCommitted, log, 0, client.AbortedTransaction{ProducerID: 7, First: 0})
	if diff := cmp.Diff([]string{"outside"}, got); diff != "" {
		t.Fatalf("values (-want +got):\n%s", diff)
	}
}

func TestReadCommittedMovesOverAnAnswerThatIsAbortedWhole(t *testing.T) {
	log := logOf(data(7, true, "aborted"), data(7, true, "aborted"))
	if got, next := seen(t, client.ReadCommitted, log, 0, client.AbortedTransaction{ProducerID: 7, First: 0}); len(got) > 0 || next != 2 {
		t.Fatalf("%v, position %d", got, next)
	}
}

func TestAMarkerThatDoesNotDecodeIsCorrupt(t *testing.T) {
	o := record.BuilderOptions{LeaderEpoch: kafka.NoEpoch, ProducerID: 7, BaseSequence: record.NoSequence, Transactional: true, Control: true}
	w := record.NewBuilder(o)
	w.Append(1000, []byte{0}, nil, nil)
	f := newFetched(client.Fetched{Records: logOf(w.Build())}, 0, client.ReadCommitted, new(record.Inflater))
	if _, err := f.take(1, true); !errors.Is(err, record.ErrCorrupt) {
		t.Fatal(err)
	}
}

func TestEveryRequestForRecordsCarriesTheIsolationLevel(t *testing.T) {
	for value, level := range map[string]int8{"read_committed": 1, "read_uncommitted": 0} {
		l := start(t, 1, 1, kafka.Pair{Key: kafka.IsolationLevel, Value: value})
		l.con.EndOffset(tp(0), func(kafka.Offset) {})
		l.Advance(0)
		if got := l.Take(clienttest.ListOffsets).Body.(*kmsg.ListOffsetsRequest).IsolationLevel; got != level {
			t.Errorf("%s: ListOffsets has level %d", value, got)
		}
		l.assign(1, 0)
		r := l.Take(clienttest.Fetch)
		if got := r.Body.(*kmsg.FetchRequest).IsolationLevel; got != level {
			t.Errorf("%s: Fetch has level %d", value, got)
		}
	}
}
