package event

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	quoted, err := json.Marshal(v)
	if err != nil {
		panic("event: a string that JSON cannot write: " + err.Error())
	}
	w.b = append(w.b, quoted...)
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
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, ']')
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
	Line           int                  `json:"line"`
	Text           string               `json:"text"`
}

type jsonRecord struct {
	Offset  kafka.Offset       `json:"offset"`
	Epoch   *kafka.LeaderEpoch `json:"epoch"`
	Attempt uint64             `json:"attempt"`
	Hash    jsonHash           `json:"hash"`
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
func ParseJSON(line []byte) (Event, error) {
	j := jsonEvent{Node: kafka.NoBroker, Peer: kafka.NoBroker, Offset: kafka.NoOffset, End: kafka.NoOffset,
		HighWatermark: kafka.NoOffset, Epoch: kafka.NoEpoch, PartitionEpoch: -1}
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
		Code: j.Code, Drained: j.Drained, Line: j.Line, Text: j.Text}
	for _, r := range j.Records {
		epoch := kafka.NoEpoch
		if r.Epoch != nil {
			epoch = *r.Epoch
		}
		e.Records = append(e.Records, Record{Offset: r.Offset, Epoch: epoch, Attempt: r.Attempt, Hash: uint64(r.Hash)})
	}
	return e, nil
}

// WriteTrace writes events as JSON lines.
func WriteTrace(w io.Writer, events []Event) error {
	buf := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	for i := range events {
		line = append(AppendJSON(line[:0], &events[i]), '\n')
		if _, err := buf.Write(line); err != nil {
			return fmt.Errorf("write trace: %w", err)
		}
	}
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("write trace: %w", err)
	}
	return nil
}

// ReadTrace reads JSON lines; empty lines are skipped. An error names the line.
func ReadTrace(r io.Reader) ([]Event, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	var events []Event
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return events, fmt.Errorf("read trace: line %d: %w", n, err)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			e, bad := ParseJSON(text)
			if bad != nil {
				return events, fmt.Errorf("trace line %d: %w", n, bad)
			}
			events = append(events, e)
		}
		if err != nil {
			return events, nil
		}
	}
}
