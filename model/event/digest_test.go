package event_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

func TestHashValueIsFNV1a(t *testing.T) {
	for in, want := range map[string]uint64{"": 0xcbf29ce484222325, "a": 0xaf63dc4c8601ec8c, "foobar": 0x85944171f73967e8} {
		if got := event.HashValue([]byte(in)); got != want {
			t.Errorf("HashValue(%q) = %#x, want %#x", in, got, want)
		}
	}
}

// What one header lacks another must not make up for.
func TestHashOfHeadersSeesEveryBorder(t *testing.T) {
	seen := map[uint64]string{event.NoHeaders: "none"}
	type header struct{ key, value string }
	for _, hs := range [][]header{{{"a", "bc"}}, {{"ab", "c"}}, {{"abc", ""}}, {{"", "abc"}}, {{"a", "b"}, {"c", ""}}, {{"a", ""}, {"b", "c"}}, {{"b", "c"}, {"a", ""}}, {{"", ""}}} {
		h := uint64(event.NoHeaders)
		for _, x := range hs {
			h = event.HashHeader(h, x.key, []byte(x.value))
		}
		if other, ok := seen[h]; ok {
			t.Errorf("%v has the hash of %s", hs, other)
		}
		seen[h] = fmt.Sprint(hs)
	}
	if null := event.HashHeader(event.NoHeaders, "a", nil); null == event.HashHeader(event.NoHeaders, "a", []byte{}) {
		t.Error("a value of null has the hash of an empty one")
	}
}

func digestOf(e event.Event) uint64 {
	var d event.Digest
	d.Add(&e)
	return d.Sum()
}

func TestDigestMovesWithEveryField(t *testing.T) {
	base := event.New(event.Appended)
	base.ISR, base.Records = []kafka.BrokerID{1}, []event.Record{{}}
	for name, change := range map[string]func(*event.Event){
		"seq": func(e *event.Event) { e.Seq++ }, "at": func(e *event.Event) { e.At++ },
		"kind": func(e *event.Event) { e.Kind++ }, "node": func(e *event.Event) { e.Node++ },
		"client": func(e *event.Event) { e.Client = "p" }, "topic": func(e *event.Event) { e.Topic = "p" },
		"partition": func(e *event.Event) { e.Partition++ }, "peer": func(e *event.Event) { e.Peer++ },
		"offset": func(e *event.Event) { e.Offset++ }, "end": func(e *event.Event) { e.End++ },
		"hw": func(e *event.Event) { e.HighWatermark++ }, "epoch": func(e *event.Event) { e.Epoch++ },
		"partition epoch": func(e *event.Event) { e.PartitionEpoch++ },
		"isr":             func(e *event.Event) { e.ISR = []kafka.BrokerID{2} },
		"isr length":      func(e *event.Event) { e.ISR = nil },
		"attempt":         func(e *event.Event) { e.Attempt++ }, "hash": func(e *event.Event) { e.Hash++ },
		"acks": func(e *event.Event) { e.Acks-- }, "code": func(e *event.Event) { e.Code-- },
		"drained":        func(e *event.Event) { e.Drained = true },
		"record offset":  func(e *event.Event) { e.Records = []event.Record{{Offset: 1}} },
		"record epoch":   func(e *event.Event) { e.Records = []event.Record{{Epoch: 1}} },
		"record attempt": func(e *event.Event) { e.Records = []event.Record{{Attempt: 1}} },
		"record hash":    func(e *event.Event) { e.Records = []event.Record{{Hash: 1}} },
		"record key":     func(e *event.Event) { e.Records = []event.Record{{Key: 1}} },
		"record headers": func(e *event.Event) { e.Records = []event.Record{{Headers: 1}} },
		"record time":    func(e *event.Event) { e.Records = []event.Record{{Timestamp: 1}} },
		"headers":        func(e *event.Event) { e.Headers = 1 },
		"timestamp":      func(e *event.Event) { e.Timestamp = 1 },
		"record control": func(e *event.Event) { e.Records = []event.Record{{Control: event.AbortMarker}} },
		"key":            func(e *event.Event) { e.Key = 1 },
		"source":         func(e *event.Event) { e.Source = "p" },
		"isolation":      func(e *event.Event) { e.Isolation = event.ReadCommitted },
		"lso":            func(e *event.Event) { e.LastStable = 1 },
		"clock error":    func(e *event.Event) { e.ClockErr = 1 },
		"session":        func(e *event.Event) { e.Session = new(event.Session) },
		"line":           func(e *event.Event) { e.Line++ }, "text": func(e *event.Event) { e.Text = "p" },
	} {
		changed := base
		change(&changed)
		if digestOf(base) == digestOf(changed) {
			t.Errorf("the digest does not see a change of %s", name)
		}
	}
}

func TestDigestMovesWithEveryFieldOfTheSession(t *testing.T) {
	base := event.New(event.TxnBegin)
	base.Session = &event.Session{}
	for name, s := range map[string]event.Session{
		"producer id": {ProducerID: 1}, "producer epoch": {ProducerEpoch: 1}, "transactional id": {TransactionalID: "p"},
		"transaction": {Txn: 1}, "group": {Group: "p"}, "member": {Member: "p"}, "generation": {Generation: 1},
	} {
		changed := base
		changed.Session = &s
		if digestOf(base) == digestOf(changed) {
			t.Errorf("the digest does not see a change of %s", name)
		}
	}
}

func TestDigestSeesEveryFlippedBitAndMovedBorder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(t, "bytes")
		sum := func(parts ...[]byte) uint64 {
			var d event.Digest
			for _, p := range parts {
				d.Bytes(p)
			}
			return d.Sum()
		}
		before := sum(b)
		bit := rapid.IntRange(0, 8*len(b)-1).Draw(t, "bit")
		b[bit/8] ^= 1 << (bit % 8)
		if sum(b) == before {
			t.Fatalf("bit %d of %d bytes is not covered", bit, len(b))
		}
		cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		if sum(b[:cut], b[cut:]) == sum(b[:cut+1], b[cut+1:]) {
			t.Fatalf("the border at %d is not covered", cut)
		}
	})
}

func TestDigestOfStringIsThatOfItsBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		var a, b event.Digest
		a.String(s)
		b.Bytes([]byte(s))
		if a.Sum() != b.Sum() {
			t.Fatalf("%q: %#x as string, %#x as bytes", s, a.Sum(), b.Sum())
		}
	})
}

// The number is a fixed point: a digest that changes from one release or
// architecture to the next makes recorded digests worthless.
func TestDigestIsAFixedFunction(t *testing.T) {
	var d event.Digest
	d.Uint64(1)
	d.Bytes([]byte("the high watermark is the line below which nothing may be lost"))
	if got, want := d.Sum(), uint64(0xbc859493f30c4c57); got != want {
		t.Errorf("got %#x, want %#x", got, want)
	}
}

func BenchmarkDigestBytes(b *testing.B) {
	buf := make([]byte, 1<<16)
	b.SetBytes(int64(len(buf)))
	var d event.Digest
	for b.Loop() {
		d.Bytes(buf)
	}
}

func BenchmarkDigestEvent(b *testing.B) {
	e := event.New(event.Appended)
	e.Topic, e.Text = "orders", "leader"
	var d event.Digest
	b.ReportAllocs()
	for b.Loop() {
		d.Add(&e)
	}
}
