package event_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

func drawEvent(t *rapid.T) event.Event {
	offset := rapid.Map(rapid.Int64Range(-1, 1<<40), func(v int64) kafka.Offset { return kafka.Offset(v) })
	broker := rapid.Map(rapid.Int32Range(-1, 200), func(v int32) kafka.BrokerID { return kafka.BrokerID(v) })
	epoch := rapid.Map(rapid.Int32Min(-1), func(v int32) kafka.LeaderEpoch { return kafka.LeaderEpoch(v) })
	record := rapid.Custom(func(t *rapid.T) event.Record {
		return event.Record{Offset: offset.Draw(t, "offset"), Epoch: epoch.Draw(t, "epoch"),
			Attempt: rapid.Uint64().Draw(t, "attempt"), Hash: rapid.Uint64().Draw(t, "hash"),
			Headers: rapid.Uint64().Draw(t, "headers"), Timestamp: kafka.Timestamp(rapid.Int64().Draw(t, "timestamp")),
			Key: rapid.Uint64().Draw(t, "key"), Control: rapid.SampledFrom([]event.Control{event.DataRecord, event.AbortMarker, event.CommitMarker}).Draw(t, "control")}
	})
	return event.Event{
		Seq: rapid.Uint64().Draw(t, "seq"), At: rapid.Int64().Draw(t, "at"),
		Kind: rapid.SampledFrom(event.Kinds()).Draw(t, "kind"), Node: broker.Draw(t, "node"),
		Client: rapid.String().Draw(t, "client"), Topic: rapid.String().Draw(t, "topic"),
		Partition: rapid.Int32Min(-1).Draw(t, "partition"), Peer: broker.Draw(t, "peer"),
		Offset: offset.Draw(t, "offset"), End: offset.Draw(t, "end"), HighWatermark: offset.Draw(t, "hw"),
		Epoch: epoch.Draw(t, "epoch"), PartitionEpoch: kafka.PartitionEpoch(rapid.Int32Min(-1).Draw(t, "pe")),
		ISR:     rapid.SliceOfN(broker, 0, 3).Draw(t, "isr"),
		Attempt: rapid.Uint64().Draw(t, "attempt"), Hash: rapid.Uint64().Draw(t, "hash"),
		Acks: rapid.Int16Range(-1, 1).Draw(t, "acks"), Code: kafka.ErrorCode(rapid.Int16().Draw(t, "code")),
		Drained: rapid.Bool().Draw(t, "drained"), Records: rapid.SliceOfN(record, 0, 3).Draw(t, "records"),
		Line: rapid.IntRange(0, 1000).Draw(t, "line"), Text: rapid.String().Draw(t, "text"),
		Headers: rapid.Uint64().Draw(t, "headers"), Timestamp: kafka.Timestamp(rapid.Int64().Draw(t, "timestamp")),
		Key: rapid.Uint64().Draw(t, "key"), Source: rapid.String().Draw(t, "source"),
		Isolation:  rapid.SampledFrom([]event.Isolation{event.ReadUncommitted, event.ReadCommitted}).Draw(t, "isolation"),
		LastStable: offset.Draw(t, "lso"), ClockErr: rapid.Int64Min(0).Draw(t, "clock error"),
		Session: rapid.Ptr(rapid.Custom(drawSession), true).Draw(t, "session"),
	}
}

func drawSession(t *rapid.T) event.Session {
	return event.Session{ProducerID: kafka.ProducerID(rapid.Int64Min(-1).Draw(t, "pid")),
		ProducerEpoch:   kafka.ProducerEpoch(rapid.Int16Min(-1).Draw(t, "producer epoch")),
		TransactionalID: rapid.String().Draw(t, "transactional id"), Txn: rapid.Uint64().Draw(t, "transaction"),
		Group: rapid.String().Draw(t, "group"), Member: rapid.String().Draw(t, "member"), Generation: rapid.Int32Min(-1).Draw(t, "generation")}
}

func TestEveryEventSurvivesItsLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Custom(drawEvent).Draw(t, "event")
		line := event.AppendJSON(nil, &want)
		if bytes.ContainsRune(line, '\n') {
			t.Fatalf("more than one line: %s", line)
		}
		got, err := event.ParseJSON(line)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

func TestTraceLineLeavesOutWhatIsUnset(t *testing.T) {
	e := event.New(event.Elected)
	e.Seq, e.At, e.Node, e.Topic, e.Peer, e.Epoch, e.ISR, e.Text = 9, 2_000_000, 101, "t", 1, 3, []kafka.BrokerID{1, 2}, "clean"
	want := `{"seq":9,"t_ns":2000000,"kind":"elected","node":101,"topic":"t","partition":0,"peer":1,"epoch":3,"isr":[1,2],"text":"clean"}`
	if got := string(event.AppendJSON(nil, &e)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestBadLineIsToldWithWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"seq":1,"kind":"elekted"}`, `"elekted" is not a kind of event`},
		{`{"seq":`, `not an event`},
		{`{"seq":1,"kind":"send","hash":"xyz"}`, `"xyz" is not a hash`},
	} {
		_, err := event.ParseJSON([]byte(c.line))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %s", c.line, err, c.want)
		}
	}
}

func TestEveryKindHasANameOfItsOwn(t *testing.T) {
	seen := map[string]event.Kind{}
	for k := event.SendInvoke; k <= event.Invariant; k++ {
		if k > event.TruncationDetected && k < event.Profile {
			continue
		}
		name := k.String()
		if old, ok := seen[name]; ok {
			t.Errorf("%d and %d are both called %s", old, k, name)
		}
		seen[name] = k
		if got, err := event.ParseKind(name); err != nil || got != k {
			t.Errorf("ParseKind(%q) = %d, %v; want %d", name, got, err, k)
		}
	}
	if got := event.Kind(200).String(); got != "kind(200)" {
		t.Errorf("an unknown kind prints as %q", got)
	}
}

func TestOrdinalIsTheAttemptWithoutItsClient(t *testing.T) {
	if got := event.Ordinal(1002<<32 | 7); got != 7 {
		t.Errorf("got %d, want 7", got)
	}
}

func TestPreviewShowsTheBeginningOfPlainTextAlone(t *testing.T) {
	for value, want := range map[string]string{"m1": "m1", "": "", "a\nb": "", "\xff": "", "0123456789012345678901234567": "012345678901234567890123"} {
		if got := event.Preview([]byte(value)); got != want {
			t.Errorf("Preview(%q) = %q, want %q", value, got, want)
		}
	}
}
