package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tidemark/model/kafka"
	"tidemark/node"
)

// fill gives every exported field under v a value that no decoder would come up
// with by itself.
func fill(v reflect.Value, n *int64) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() && v.Type().Field(i).Name != "UnknownTags" {
				fill(f, n)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.String:
		*n++
		v.SetString("word" + string(rune('a'+*n%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		*n++
		v.SetInt(1 + *n%100)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		*n++
		v.SetUint(uint64(1 + *n%100))
	}
}

func mustEncode(t *testing.T, m *node.Message) []byte {
	t.Helper()
	frame, err := Encode(m, nil)
	if err != nil {
		t.Fatalf("encode %s v%d: %v", name(m.Key()), m.Version(), err)
	}
	return frame
}

func TestEveryRequestAndResponseOfEveryVersionComesBackWithEqualBytes(t *testing.T) {
	pairs := 0
	for key := int16(0); key <= kmsg.MaxKey; key++ {
		for version := int16(0); kmsg.RequestForKey(key) != nil && version <= kmsg.RequestForKey(key).MaxVersion(); version++ {
			if key == controlledOffKey && version == 0 {
				continue
			}
			var n int64
			request := kmsg.RequestForKey(key)
			fill(reflect.ValueOf(request).Elem(), &n)
			request.SetVersion(version)
			first := mustEncode(t, &node.Message{CorrelationID: 7, ClientID: "c", Request: request})
			got, err := DecodeRequest(first)
			if err != nil {
				t.Fatalf("decode %s v%d: %v", name(key), version, err)
			}
			if again := mustEncode(t, got); !bytes.Equal(first, again) {
				t.Fatalf("%s v%d request: %s", name(key), version, cmp.Diff(first, again))
			}

			response := request.ResponseKind()
			fill(reflect.ValueOf(response).Elem(), &n)
			first = mustEncode(t, got.Reply(response))
			answer, err := DecodeResponse(first, key, version)
			if err != nil {
				t.Fatalf("decode %s v%d response: %v", name(key), version, err)
			}
			if again := mustEncode(t, answer); !bytes.Equal(first, again) {
				t.Fatalf("%s v%d response: %s", name(key), version, cmp.Diff(first, again))
			}
			pairs++
		}
	}
	if pairs < 300 {
		t.Fatalf("only %d pairs of key and version were tried", pairs)
	}
}

func TestFrameIsTheOneThatKafkaClientsWrite(t *testing.T) {
	for key := int16(0); key <= kmsg.MaxKey; key++ {
		request := kmsg.RequestForKey(key)
		if request == nil {
			continue
		}
		request.SetVersion(request.MaxVersion())
		want := kmsg.NewRequestFormatter(kmsg.FormatterClientID("c")).AppendRequest(nil, request, 9)
		got := mustEncode(t, &node.Message{CorrelationID: 9, ClientID: "c", Request: request})
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %s", name(key), cmp.Diff(want, got))
		}
	}
}

func TestResponseHeaderHasTagsWhenFlexibleExceptForApiVersions(t *testing.T) {
	flexible := kmsg.NewPtrMetadataResponse()
	flexible.Version = 12
	versions := kmsg.NewPtrApiVersionsResponse()
	versions.Version = 3
	for _, c := range []struct {
		response kmsg.Response
		header   int
	}{{flexible, 5}, {versions, 4}} {
		frame := mustEncode(t, &node.Message{CorrelationID: 3, Response: c.response})
		if got := len(frame) - sizeBytes - len(c.response.AppendTo(nil)); got != c.header {
			t.Errorf("%s response header has %d bytes, want %d", name(c.response.Key()), got, c.header)
		}
	}
}

func TestApiVersionsOfAnUnknownVersionIsHeardAndItsRefusalRead(t *testing.T) {
	request := kmsg.NewPtrApiVersionsRequest()
	frame := mustEncode(t, &node.Message{CorrelationID: 1, ClientID: "new", Request: request})
	binary.BigEndian.PutUint16(frame[6:], 99)
	m, err := DecodeRequest(frame)
	if err != nil || m.Version() != 99 || m.ClientID != "new" {
		t.Fatalf("DecodeRequest = %+v, %v; want version 99 of client new", m, err)
	}
	refusal := kmsg.NewPtrApiVersionsResponse()
	refusal.ErrorCode = int16(kafka.UnsupportedVersion)
	answer, err := DecodeResponse(mustEncode(t, &node.Message{CorrelationID: 1, Response: refusal}), apiVersions, 4)
	if err != nil || answer.Version() != 0 || answer.Response.(*kmsg.ApiVersionsResponse).ErrorCode != refusal.ErrorCode {
		t.Fatalf("DecodeResponse = %+v, %v; want the refusal in version 0", answer, err)
	}
}

func TestPendingPairsAnswersInOrderAndExpectsNoneForAcksZero(t *testing.T) {
	var p Pending
	send := func(id int32, r kmsg.Request) {
		p.Sent(&node.Message{CorrelationID: id, Request: r})
	}
	silent := kmsg.NewPtrProduceRequest()
	silent.Acks = 0
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Version = 12
	send(1, metadata)
	send(2, silent)
	fetch := kmsg.NewPtrFetchRequest()
	fetch.Version = 12
	send(3, fetch)

	first, second := metadata.ResponseKind(), fetch.ResponseKind()
	if _, err := p.Decode(mustEncode(t, &node.Message{CorrelationID: 3, Response: second})); !errors.Is(err, ErrFrame) {
		t.Fatalf("an answer out of turn gave %v, want ErrFrame", err)
	}
	for id, r := range map[int32]kmsg.Response{1: first} {
		if m, err := p.Decode(mustEncode(t, &node.Message{CorrelationID: id, Response: r})); err != nil || m.Key() != 3 {
			t.Fatalf("first answer = %v, %v", m, err)
		}
	}
	if m, err := p.Decode(mustEncode(t, &node.Message{CorrelationID: 3, Response: second})); err != nil || m.Key() != 1 {
		t.Fatalf("second answer = %v, %v", m, err)
	}
	if p.Len() != 0 {
		t.Fatalf("%d requests still await an answer", p.Len())
	}
}

func TestPendingKeepsItsMemoryBounded(t *testing.T) {
	var p Pending
	r := kmsg.NewPtrMetadataRequest()
	answer := r.ResponseKind()
	p.Sent(&node.Message{CorrelationID: -1, Request: r})
	for id := int32(0); id < 1000; id++ {
		p.Sent(&node.Message{CorrelationID: id, Request: r})
		if _, err := p.Decode(mustEncode(t, &node.Message{CorrelationID: id - 1, Response: answer})); err != nil {
			t.Fatal(err)
		}
	}
	if cap(p.awaited) > 16 {
		t.Fatalf("1,000 requests, two at a time, keep room for %d", cap(p.awaited))
	}
}

func TestBadFramesGiveOneClearLine(t *testing.T) {
	good := mustEncode(t, &node.Message{CorrelationID: 1, ClientID: "c", Request: kmsg.NewPtrMetadataRequest()})
	sized := func(b ...byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	for what, c := range map[string]struct {
		frame []byte
		want  string
	}{
		"nothing":         {nil, "begins with a size"},
		"short size":      {good[:len(good)-1], "follow"},
		"negative size":   {[]byte{255, 255, 255, 255}, "size -1"},
		"huge size":       {[]byte{127, 255, 255, 255}, "size 2147483647"},
		"short header":    {sized(0, 3, 0), "header has at least"},
		"unknown key":     {sized(3, 232, 0, 0, 0, 0, 0, 1, 255, 255), "API key 1000"},
		"unknown version": {sized(0, 3, 0, 99, 0, 0, 0, 1, 255, 255), "Metadata version 99"},
		"client id":       {sized(0, 3, 0, 0, 0, 0, 0, 1, 0, 9, 'x'), "client.id of 9 bytes"},
		"tags":            {sized(0, 3, 0, 12, 0, 0, 0, 1, 255, 255, 1), "tags end early"},
		"tag size":        {sized(0, 3, 0, 12, 0, 0, 0, 1, 255, 255, 1, 0, 9), "tag of 9 bytes"},
		"body":            {sized(0, 3, 0, 4, 0, 0, 0, 1, 255, 255, 0, 0), "Metadata v4 request"},
	} {
		_, err := DecodeRequest(c.frame)
		if !errors.Is(err, ErrFrame) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want one line with %q", what, err, c.want)
		}
	}
}

func TestMessagesThatTheProtocolCannotCarryAreRefused(t *testing.T) {
	future := kmsg.NewPtrMetadataRequest()
	future.Version = 99
	long := kmsg.NewPtrMetadataRequest()
	for what, m := range map[string]*node.Message{
		"version":   {Request: future},
		"client.id": {Request: long, ClientID: strings.Repeat("x", 1<<15)},
	} {
		if _, err := Encode(m, nil); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

// allocated is what this process ever allocated, bytes.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// FuzzDecodeRequest gives any bytes to what reads requests from sockets: an error for
// which the connection is closed, or a message whose encoding is stable. Memory is in
// proportion to the bytes, whatever the lengths in them say.
func FuzzDecodeRequest(f *testing.F) {
	for _, key := range []int16{0, 1, 2, 3, 18, 19, 22, 23, 43, 56, 62, 63} {
		r := kmsg.RequestForKey(key)
		var n int64
		fill(reflect.ValueOf(r).Elem(), &n)
		r.SetVersion(r.MaxVersion())
		frame, err := Encode(&node.Message{CorrelationID: 1, ClientID: "c", Request: r}, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame[sizeBytes:])
	}
	f.Fuzz(func(t *testing.T, rest []byte) {
		frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(rest))), rest...)
		before := allocated()
		m, err := DecodeRequest(frame)
		if n := allocated() - before; n > uint64(1<<20+1000*len(rest)) {
			t.Fatalf("%d bytes of memory for a request of %d", n, len(rest))
		}
		if err != nil {
			if !errors.Is(err, ErrFrame) {
				t.Fatalf("error %v is not ErrFrame", err)
			}
			return
		}
		if m.Version() > m.Request.MaxVersion() {
			return
		}
		once, err := Encode(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeRequest(once)
		if err != nil {
			t.Fatalf("what was encoded does not decode: %v", err)
		}
		twice, err := Encode(again, nil)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("encoding is not stable: %v", err)
		}
	})
}
