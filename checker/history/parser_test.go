package history

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

func TestParserReadsWhatEncodingJSONReads(t *testing.T) {
	p := newParser()
	rapid.Check(t, func(t *rapid.T) {
		want := drawEvent(t)
		line := event.AppendJSON(nil, &want)
		oracle, err := event.ParseJSON(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var got event.Event
		p.parse(line, &got)
		if p.err != nil {
			t.Fatalf("%s: %v", line, p.err)
		}
		if diff := cmp.Diff(oracle, got); diff != "" {
			t.Fatalf("%s (-encoding/json +parser):\n%s", line, diff)
		}
	})
}

// drawEvent draws an event with any of its fields set.
func drawEvent(t *rapid.T) event.Event {
	e := event.New(rapid.SampledFrom(event.Kinds()).Draw(t, "kind"))
	e.Seq, e.At = rapid.Uint64().Draw(t, "seq"), rapid.Int64().Draw(t, "t")
	text := rapid.OneOf(rapid.StringMatching(`[ -~]{0,8}`), rapid.String())
	maybe := func() bool { return rapid.Bool().Draw(t, "set") }
	if maybe() {
		e.Client, e.Topic, e.Partition, e.Text = text.Draw(t, "client"), text.Draw(t, "topic"), rapid.Int32().Draw(t, "partition"), text.Draw(t, "text")
	}
	if maybe() {
		e.Node, e.Peer = kafka.BrokerID(rapid.Int32().Draw(t, "node")), kafka.BrokerID(rapid.Int32().Draw(t, "peer"))
		e.Epoch, e.PartitionEpoch = kafka.LeaderEpoch(rapid.Int32().Draw(t, "epoch")), kafka.PartitionEpoch(rapid.Int32().Draw(t, "pepoch"))
		for range rapid.IntRange(0, 3).Draw(t, "isr") {
			e.ISR = append(e.ISR, kafka.BrokerID(rapid.Int32().Draw(t, "id")))
		}
	}
	offset := func(name string) kafka.Offset { return kafka.Offset(rapid.Int64().Draw(t, name)) }
	if maybe() {
		e.Offset, e.End, e.HighWatermark, e.LastStable = offset("offset"), offset("end"), offset("hw"), offset("lso")
		e.Drained = maybe()
		for range rapid.IntRange(0, 3).Draw(t, "records") {
			e.Records = append(e.Records, event.Record{Offset: offset("o"), Epoch: kafka.LeaderEpoch(rapid.Int32().Draw(t, "e")),
				Attempt: rapid.Uint64().Draw(t, "a"), Hash: rapid.Uint64().Draw(t, "h"), Key: rapid.Uint64().Draw(t, "k"),
				Headers: rapid.Uint64Range(0, 9).Draw(t, "hs"), Timestamp: kafka.Timestamp(rapid.Int64Range(-1, 9).Draw(t, "ts")),
				Control: event.Control(rapid.Int8Range(0, 2).Draw(t, "control"))})
		}
	}
	if maybe() {
		e.Attempt, e.Hash, e.Key = rapid.Uint64().Draw(t, "attempt"), rapid.Uint64().Draw(t, "hash"), rapid.Uint64().Draw(t, "key")
		e.Acks, e.Code = rapid.Int16().Draw(t, "acks"), kafka.ErrorCode(rapid.Int16().Draw(t, "code"))
		e.Headers, e.Timestamp = rapid.Uint64().Draw(t, "headers"), kafka.Timestamp(rapid.Int64().Draw(t, "timestamp"))
		e.Source, e.Isolation = text.Draw(t, "source"), event.Isolation(rapid.Int8Range(0, 1).Draw(t, "isolation"))
		e.ClockErr, e.Line = rapid.Int64Min(0).Draw(t, "clockerr"), rapid.Int().Draw(t, "line")
	}
	if maybe() {
		e.Session = &event.Session{ProducerID: kafka.ProducerID(rapid.Int64().Draw(t, "pid")), ProducerEpoch: kafka.ProducerEpoch(rapid.Int16().Draw(t, "pepoch")),
			TransactionalID: text.Draw(t, "txid"), Txn: rapid.Uint64().Draw(t, "txn"), Group: text.Draw(t, "group"), Member: text.Draw(t, "member"),
			Generation: rapid.Int32().Draw(t, "generation")}
	}
	return e
}

// FuzzParserAgreesWithEncodingJSON feeds both readers any bytes: what one takes
// the other must take, with the same meaning.
func FuzzParserAgreesWithEncodingJSON(f *testing.F) {
	for _, line := range []string{
		`{"seq":9,"t_ns":2000000,"kind":"elected","node":101,"topic":"t","partition":0,"peer":1,"epoch":3,"isr":[1,2],"text":"clean"}`,
		`{"seq":1,"kind":"send","client":"p","topic":"t","partition":-1,"attempt":4294967297,"hash":"af63bd4c8601b7df","acks":-1,"text":"p-1"}`,
		`{"seq":3,"kind":"poll","client":"c","topic":"t","partition":0,"offset":0,"end":2,"drained":true,"records":[{"offset":0,"attempt":1,"hash":"1"},{"offset":1,"control":2}],"isolation":1,"lso":2}`,
		`{"kind":"commit","session":{"pid":7,"producer_epoch":0,"txid":"x","txn":1,"group":"g","member":"m","generation":3},"key":"0","clock_err_ns":5}`,
		`{"kind":"boot","unknown":{"a":[1.5e3,true,null,"\u00e9\n"]},"text":"\ud83d\ude00 \"quoted\"","line":7}`,
		`{"kind":"died", "text" : null , "node": -1 }`,
		`{"kind":"boot","seq":18446744073709551616}`, `{"kind":"boot"} x`, `{"kind":"boot",}`, `[]`, `{"kind":"boot","seq":01}`,
	} {
		f.Add([]byte(line))
	}
	p := newParser()
	f.Fuzz(func(t *testing.T, line []byte) {
		var got event.Event
		had := p.parse(line, &got)
		if p.err == nil && had&hasKind == 0 || !comparableLine(line) {
			return
		}
		want, err := event.ParseJSON(line)
		if (err == nil) != (p.err == nil) {
			t.Fatalf("%q: encoding/json says %v, the parser %v", line, err, p.err)
		}
		if diff := cmp.Diff(want, got); err == nil && diff != "" {
			t.Fatalf("%q (-encoding/json +parser):\n%s", line, diff)
		}
	})
}

// comparableLine leaves out what the two treat differently on purpose:
// encoding/json takes keys in any case, keeps parts of a key's first value when
// the key comes again, and takes null for an element; and the parser refuses
// an isolation, control or clock error that does not exist.
func comparableLine(line []byte) bool {
	if bytes.Contains(line, []byte("null")) {
		return false
	}
	for _, key := range []string{"isolation", "control", "clock_err_ns"} {
		if bytes.Contains(line, []byte(key)) {
			return false
		}
	}
	keys := map[string]bool{}
	d := json.NewDecoder(bytes.NewReader(line))
	for {
		token, err := d.Token()
		if err != nil {
			return true
		}
		// Values count as keys too, which leaves out a little more.
		if s, ok := token.(string); ok {
			if keys[strings.ToLower(s)] || strings.ToLower(s) != s {
				return false
			}
			keys[s] = true
		}
	}
}

func BenchmarkParse(b *testing.B) {
	send := event.New(event.SendOK)
	send.Seq, send.At, send.Client, send.Topic, send.Partition = 123456, 987654321, "producer-7", "orders", 3
	send.Attempt, send.Hash, send.Acks, send.Offset, send.Text = 1007<<32|42, 0xaf63bd4c8601b7df, -1, 41999, "producer-7-42"
	line := event.AppendJSON(nil, &send)
	b.Run("parser", func(b *testing.B) {
		p := newParser()
		var e event.Event
		b.SetBytes(int64(len(line)))
		b.ReportAllocs()
		for b.Loop() {
			if p.parse(line, &e); p.err != nil {
				b.Fatal(p.err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(line)))
		for b.Loop() {
			if _, err := event.ParseJSON(line); err != nil {
				b.Fatal(err)
			}
		}
	})
}
