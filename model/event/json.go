package event

import (
	"encoding/json"
	"fmt"
	"strconv"

	"tidemark/model/kafka"
)

// AppendJSON appends the event as one JSON object without a line end. Keys come
// in one fixed order and a field that holds its unset value (that of New) is
// left out, so equal events give equal bytes. Hashes are hexadecimal strings,
// because readers of JSON often keep numbers as floats; times are nanoseconds.
// Text must be valid UTF-8.
func AppendJSON(dst []byte, e *Event) []byte {
	w := jsonWriter{append(dst, '{')}
	w.uint("seq", e.Seq)
	w.int("t_ns", e.At)
	w.str("kind", e.Kind.String())
	w.intUnless("node", int64(e.Node), int64(kafka.NoBroker))
	w.strUnlessEmpty("client", e.Client)
	w.strUnlessEmpty("topic", e.Topic)
	if e.Topic != "" || e.Partition != 0 {
		w.int("partition", int64(e.Partition))
	}
	w.intUnless("peer", int64(e.Peer), int64(kafka.NoBroker))
	w.intUnless("offset", int64(e.Offset), int64(kafka.NoOffset))
	w.intUnless("end", int64(e.End), int64(kafka.NoOffset))
	w.intUnless("hw", int64(e.HighWatermark), int64(kafka.NoOffset))
	w.intUnless("epoch", int64(e.Epoch), int64(kafka.NoEpoch))
	w.intUnless("partition_epoch", int64(e.PartitionEpoch), -1)
	if len(e.ISR) > 0 {
		w.key("isr")
		w.isr(e.ISR)
	}
	if e.Attempt != 0 {
		w.uint("attempt", e.Attempt)
	}
	w.hashUnlessZero("hash", e.Hash)
	w.intUnless("acks", int64(e.Acks), 0)
	w.intUnless("code", int64(e.Code), 0)
	if e.Drained {
		w.key("drained")
		w.b = append(w.b, "true"...)
	}
	if len(e.Records) > 0 {
		w.key("records")
		w.records(e.Records)
	}
	w.hashUnlessZero("key", e.Key)
	w.hashUnlessZero("headers", e.Headers)
	w.intUnless("timestamp", int64(e.Timestamp), 0)
	w.strUnlessEmpty("source", e.Source)
	w.intUnless("isolation", int64(e.Isolation), int64(ReadUncommitted))
	w.intUnless("lso", int64(e.LastStable), int64(kafka.NoOffset))
	w.intUnless("clock_err_ns", e.ClockErr, 0)
	if e.Session != nil {
		w.key("session")
		w.session(e.Session)
	}
	w.intUnless("line", int64(e.Line), 0)
	w.strUnlessEmpty("text", e.Text)
	return append(w.b, '}')
}

// jsonWriter appends keys and values to an object that is open.
type jsonWriter struct{ b []byte }

func (w *jsonWriter) key(k string) {
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(append(append(w.b, '"'), k...), '"', ':')
}

func (w *jsonWriter) uint(k string, v uint64) {
	w.key(k)
	w.b = strconv.AppendUint(w.b, v, 10)
}

func (w *jsonWriter) int(k string, v int64) {
	w.key(k)
	w.b = strconv.AppendInt(w.b, v, 10)
}

func (w *jsonWriter) intUnless(k string, v, unset int64) {
	if v != unset {
		w.int(k, v)
	}
}

func (w *jsonWriter) str(k, v string) {
	w.key(k)
	if plain(v) {
		w.b = append(append(append(w.b, '"'), v...), '"')
		return
	}
	quoted, err := json.Marshal(v)
	if err != nil {
		panic("event: a string that JSON cannot write: " + err.Error())
	}
	w.b = append(w.b, quoted...)
}

// plain reports whether JSON writes a string as it is: nearly all are.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < ' ' || c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

func (w *jsonWriter) strUnlessEmpty(k, v string) {
	if v != "" {
		w.str(k, v)
	}
}

func (w *jsonWriter) hashUnlessZero(k string, v uint64) {
	if v != 0 {
		w.key(k)
		w.b = append(strconv.AppendUint(append(w.b, '"'), v, 16), '"')
	}
}

func (w *jsonWriter) isr(ids []kafka.BrokerID) {
	w.b = append(w.b, '[')
	for i, id := range ids {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = strconv.AppendInt(w.b, int64(id), 10)
	}
	w.b = append(w.b, ']')
}

func (w *jsonWriter) records(rs []Record) {
	w.b = append(w.b, '[')
	for i := range rs {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, '{')
		w.int("offset", int64(rs[i].Offset))
		w.intUnless("epoch", int64(rs[i].Epoch), int64(kafka.NoEpoch))
		if rs[i].Attempt != 0 {
			w.uint("attempt", rs[i].Attempt)
		}
		w.hashUnlessZero("hash", rs[i].Hash)
		w.hashUnlessZero("key", rs[i].Key)
		w.hashUnlessZero("headers", rs[i].Headers)
		w.intUnless("timestamp", int64(rs[i].Timestamp), 0)
		w.intUnless("control", int64(rs[i].Control), int64(DataRecord))
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, ']')
}

func (w *jsonWriter) session(s *Session) {
	w.b = append(w.b, '{')
	w.intUnless("pid", int64(s.ProducerID), -1)
	w.intUnless("producer_epoch", int64(s.ProducerEpoch), -1)
	w.strUnlessEmpty("txid", s.TransactionalID)
	if s.Txn != 0 {
		w.uint("txn", s.Txn)
	}
	w.strUnlessEmpty("group", s.Group)
	w.strUnlessEmpty("member", s.Member)
	w.intUnless("generation", int64(s.Generation), -1)
	w.b = append(w.b, '}')
}

// jsonEvent has the keys of AppendJSON. Decoding starts from the unset values.
type jsonEvent struct {
	Seq            uint64               `json:"seq"`
	At             int64                `json:"t_ns"`
	Kind           string               `json:"kind"`
	Node           kafka.BrokerID       `json:"node"`
	Client         string               `json:"client"`
	Topic          string               `json:"topic"`
	Partition      int32                `json:"partition"`
	Peer           kafka.BrokerID       `json:"peer"`
	Offset         kafka.Offset         `json:"offset"`
	End            kafka.Offset         `json:"end"`
	HighWatermark  kafka.Offset         `json:"hw"`
	Epoch          kafka.LeaderEpoch    `json:"epoch"`
	PartitionEpoch kafka.PartitionEpoch `json:"partition_epoch"`
	ISR            []kafka.BrokerID     `json:"isr"`
	Attempt        uint64               `json:"attempt"`
	Hash           jsonHash             `json:"hash"`
	Acks           int16                `json:"acks"`
	Code           kafka.ErrorCode      `json:"code"`
	Drained        bool                 `json:"drained"`
	Records        []jsonRecord         `json:"records"`
	Key            jsonHash             `json:"key"`
	Headers        jsonHash             `json:"headers"`
	Timestamp      kafka.Timestamp      `json:"timestamp"`
	Source         string               `json:"source"`
	Isolation      Isolation            `json:"isolation"`
	LastStable     kafka.Offset         `json:"lso"`
	ClockErr       int64                `json:"clock_err_ns"`
	Session        *jsonSession         `json:"session"`
	Line           int                  `json:"line"`
	Text           string               `json:"text"`
}

type jsonRecord struct {
	Offset  kafka.Offset       `json:"offset"`
	Epoch   *kafka.LeaderEpoch `json:"epoch"`
	Attempt uint64             `json:"attempt"`
	Hash    jsonHash           `json:"hash"`
	Key     jsonHash           `json:"key"`
	Control Control            `json:"control"`

	Headers   jsonHash        `json:"headers"`
	Timestamp kafka.Timestamp `json:"timestamp"`
}

// jsonSession is a session; an id that is left out is unknown.
type jsonSession struct {
	ProducerID      kafka.ProducerID    `json:"pid"`
	ProducerEpoch   kafka.ProducerEpoch `json:"producer_epoch"`
	TransactionalID string              `json:"txid"`
	Txn             uint64              `json:"txn"`
	Group           string              `json:"group"`
	Member          string              `json:"member"`
	Generation      int32               `json:"generation"`
}

// UnmarshalJSON starts from a session with every id unknown.
func (s *jsonSession) UnmarshalJSON(b []byte) error {
	type plain jsonSession
	p := plain(NewSession())
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*s = jsonSession(p)
	return nil
}

// jsonHash is a hash as a hexadecimal string.
type jsonHash uint64

// UnmarshalText reads up to 16 hexadecimal digits.
func (h *jsonHash) UnmarshalText(b []byte) error {
	v, err := strconv.ParseUint(string(b), 16, 64)
	if err != nil {
		return fmt.Errorf("%q is not a hash: write up to 16 hexadecimal digits", b)
	}
	*h = jsonHash(v)
	return nil
}

// ParseJSON reads one object that AppendJSON wrote. Unknown keys are ignored,
// so that recordings of other tools may carry more; an unknown kind is an error.
// It says what a line means; whoever reads millions of them has a faster parser
// (package checker/history) and compares it with this one.
func ParseJSON(line []byte) (Event, error) {
	j := jsonEvent{Node: kafka.NoBroker, Peer: kafka.NoBroker, Offset: kafka.NoOffset, End: kafka.NoOffset,
		HighWatermark: kafka.NoOffset, Epoch: kafka.NoEpoch, PartitionEpoch: -1, LastStable: kafka.NoOffset}
	if err := json.Unmarshal(line, &j); err != nil {
		return Event{}, fmt.Errorf("not an event: %w", err)
	}
	kind, err := ParseKind(j.Kind)
	if err != nil {
		return Event{}, err
	}
	e := Event{Seq: j.Seq, At: j.At, Kind: kind, Node: j.Node, Client: j.Client, Topic: j.Topic, Partition: j.Partition,
		Peer: j.Peer, Offset: j.Offset, End: j.End, HighWatermark: j.HighWatermark, Epoch: j.Epoch,
		PartitionEpoch: j.PartitionEpoch, ISR: j.ISR, Attempt: j.Attempt, Hash: uint64(j.Hash), Acks: j.Acks,
		Code: j.Code, Drained: j.Drained, Key: uint64(j.Key), Headers: uint64(j.Headers), Timestamp: j.Timestamp, Source: j.Source, Isolation: j.Isolation, LastStable: j.LastStable,
		ClockErr: j.ClockErr, Session: (*Session)(j.Session), Line: j.Line, Text: j.Text}
	for _, r := range j.Records {
		epoch := kafka.NoEpoch
		if r.Epoch != nil {
			epoch = *r.Epoch
		}
		e.Records = append(e.Records, Record{Offset: r.Offset, Epoch: epoch, Attempt: r.Attempt, Hash: uint64(r.Hash),
			Key: uint64(r.Key), Control: r.Control, Headers: uint64(r.Headers), Timestamp: r.Timestamp})
	}
	return e, nil
}
