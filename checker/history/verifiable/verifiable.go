// Package verifiable reads what Kafka's VerifiableProducer and VerifiableConsumer
// print (org.apache.kafka.tools), a line of JSON for each event:
//
//	{"timestamp":1700000000123,"name":"producer_send_success","key":null,"value":"3.17","topic":"t","partition":0,"offset":41}
//	{"timestamp":1700000000400,"name":"record_data","key":null,"value":"3.17","topic":"t","partition":0,"offset":41}
//	{"timestamp":1700000000401,"name":"records_consumed","count":1,"partitions":[{"topic":"t","partition":0,"count":1,"minOffset":41,"maxOffset":41}]}
//
// The producer does not say when it sends, so each send is taken to be open from
// startup_complete on; its value is what tells it from others (--value-prefix keeps
// the values of several producers apart). An error counts as a send that may have
// been written, unless its exception says that no broker can have it. The consumer
// must print its records (--verbose): offsets alone prove nothing. Every
// records_consumed is a poll; the commit that follows it is taken to be asked for
// there.
package verifiable

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"tidemark/checker/history"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// Group stands for the consumers' group, which they do not print.
const Group = "verifiable"

const millisecond = 1_000_000 // ns

// Looks reports whether a file that begins so was printed by one of the tools.
func Looks(begins []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimSpace(begins), []byte("\n"))
	line = bytes.ReplaceAll(line, []byte(" "), nil) // some print a blank behind each colon
	return bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"name":"`)) && bytes.Contains(line, []byte(`"timestamp":`))
}

// line has the fields of all events.
type line struct {
	Timestamp  *int64      `json:"timestamp"` // ms
	Name       string      `json:"name"`
	Topic      string      `json:"topic"`
	Partition  int32       `json:"partition"`
	Offset     int64       `json:"offset"`
	Key        *string     `json:"key"`
	Value      *string     `json:"value"`
	Exception  string      `json:"exception"`
	Partitions []partition `json:"partitions"`
	Offsets    []partition `json:"offsets"`
	Success    bool        `json:"success"`
}

type partition struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
	MinOffset int64  `json:"minOffset"`
	MaxOffset int64  `json:"maxOffset"`
	Count     int64  `json:"count"`
}

func (p partition) tp() kafka.TopicPartition {
	return kafka.TopicPartition{Topic: p.Topic, Partition: p.Partition}
}

// importer turns lines into events.
type importer struct {
	file   string
	number int
	at     int64 // ns
	began  int64 // ns, of startup_complete
	sent   []history.Located
	events []history.Located

	records    map[kafka.TopicPartition][]event.Record // printed, not consumed yet
	positions  map[kafka.TopicPartition]kafka.Offset
	commits    map[commit]uint64 // asked for, by attempt
	operations uint64
	session    *event.Session
}

type commit struct {
	tp     kafka.TopicPartition
	offset kafka.Offset
}

// Read reads a whole file; file is its name in errors, and the client's in events.
func Read(file string, r io.Reader, o history.ImportOptions) (*history.Slice, error) {
	s := event.NewSession()
	s.Group, s.Member = Group, file
	im := &importer{file: file, records: map[kafka.TopicPartition][]event.Record{}, positions: map[kafka.TopicPartition]kafka.Offset{},
		commits: map[commit]uint64{}, session: &s}
	in := bufio.NewReaderSize(r, 1<<16)
	for {
		text, err := in.ReadBytes('\n')
		im.number++
		if text = bytes.TrimSpace(text); len(text) > 0 {
			if bad := im.take(text); bad != nil {
				return nil, bad
			}
		}
		if errors.Is(err, io.EOF) {
			return im.history(o), nil
		}
		if err != nil {
			return nil, im.fault("", err)
		}
	}
}

// history puts the invocations, all at the start, before what follows.
func (im *importer) history(o history.ImportOptions) *history.Slice {
	for i := range im.sent {
		im.sent[i].At = im.began
	}
	all := append(im.sent, im.events...)
	return history.NewSlice(im.file, o.Header("VerifiableProducer, VerifiableConsumer", millisecond), all)
}

func (im *importer) fault(field string, err error) error {
	return &history.Error{File: im.file, Line: im.number, Field: field, Err: err}
}

func (im *importer) take(text []byte) error {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return im.fault(history.JSONFault(text, "a line of JSON as VerifiableProducer prints it", err))
	}
	if l.Timestamp == nil {
		return im.fault("timestamp", errors.New("missing: every event has its time, ms"))
	}
	im.at = *l.Timestamp * millisecond
	if im.number == 1 || l.Name == "startup_complete" {
		im.began = im.at
	}
	switch l.Name {
	case "producer_send_success", "producer_send_error":
		return im.produced(&l)
	case "record_data":
		return im.record(&l)
	case "records_consumed":
		return im.consumed(&l)
	case "offsets_committed":
		im.committed(&l)
	case "partitions_assigned":
		im.moved(event.Assigned, l.Partitions)
	case "partitions_revoked":
		im.moved(event.Revoked, l.Partitions)
	case "partitions_lost":
		im.moved(event.Lost, l.Partitions)
	}
	return nil
}

func (im *importer) event(k event.Kind, tp kafka.TopicPartition) event.Event {
	e := event.New(k)
	e.At, e.Client, e.Topic, e.Partition = im.at, im.file, tp.Topic, tp.Partition
	return e
}

func (im *importer) emit(e event.Event) {
	im.events = append(im.events, history.Located{Event: e, Line: im.number})
}

// identify names the attempt that wrote a value. Of PREFIX.NUMBER and NUMBER the
// number stays readable in the lower half.
func identify(topic, value string) uint64 {
	prefix, number := "", value
	if i := strings.LastIndexByte(value, '.'); i >= 0 {
		prefix, number = value[:i], value[i+1:]
	}
	if n, err := strconv.ParseUint(number, 10, 32); err == nil {
		return (event.HashValue([]byte(topic+" "+prefix))|1<<63)&^0xffffffff | n
	}
	return event.HashValue([]byte(topic+"\n"+value)) | 1<<63
}

// neverSent are exceptions that the producer throws itself, or a broker before it
// appends anything.
var neverSent = []string{"RecordTooLargeException", "SerializationException", "BufferExhaustedException", "InvalidTopicException",
	"TopicAuthorizationException", "ClusterAuthorizationException", "NotEnoughReplicasException"}

// definite reports whether an exception proves that nothing was written. A class
// name stands at the end, behind its package.
func definite(exception string) bool {
	for _, name := range neverSent {
		if strings.HasSuffix(exception, "."+name) {
			return true
		}
	}
	return false
}

func (im *importer) produced(l *line) error {
	if l.Value == nil {
		return im.fault("value", errors.New("missing: the value tells sends apart"))
	}
	tp := kafka.TopicPartition{Topic: l.Topic, Partition: -1}
	if l.Name == "producer_send_success" {
		tp.Partition = l.Partition
	}
	e := im.event(event.SendOK, tp)
	e.Attempt, e.Hash, e.Acks, e.Text = identify(l.Topic, *l.Value), event.HashValue([]byte(*l.Value)), -1, event.Preview([]byte(*l.Value))
	e.Key = keyHash(l.Key)
	switch {
	case l.Name == "producer_send_success" && (l.Offset < -1 || l.Offset == math.MaxInt64):
		return im.fault("offset", fmt.Errorf("expected an offset, or -1 for acks=0, found %d", l.Offset))
	case l.Name == "producer_send_success":
		e.Offset = kafka.Offset(l.Offset)
	case definite(l.Exception):
		e.Kind = event.SendFail
	default:
		e.Kind = event.SendUnknown
	}
	im.emit(e)
	e.Kind, e.Offset = event.SendInvoke, kafka.NoOffset
	im.sent = append(im.sent, history.Located{Event: e, Line: im.number})
	return nil
}

func keyHash(key *string) uint64 {
	if key == nil {
		return 0
	}
	return event.HashValue([]byte(*key))
}

func (im *importer) record(l *line) error {
	if l.Value == nil {
		return im.fault("value", errors.New("missing: the value tells which send it was"))
	}
	tp := kafka.TopicPartition{Topic: l.Topic, Partition: l.Partition}
	if l.Offset < 0 || l.Offset == math.MaxInt64 {
		return im.fault("offset", fmt.Errorf("expected an offset from 0 to %d, found %d", math.MaxInt64-1, l.Offset))
	}
	seen := im.records[tp]
	if n := len(seen); n > 0 && kafka.Offset(l.Offset) <= seen[n-1].Offset {
		return im.fault("offset", fmt.Errorf("expected more than %d, which the record before it in the same poll has, found %d", seen[n-1].Offset, l.Offset))
	}
	im.records[tp] = append(seen, event.Record{Offset: kafka.Offset(l.Offset), Epoch: kafka.NoEpoch, Attempt: identify(l.Topic, *l.Value),
		Hash: event.HashValue([]byte(*l.Value)), Key: keyHash(l.Key)})
	return nil
}

func (im *importer) consumed(l *line) error {
	for _, p := range l.Partitions {
		tp := p.tp()
		records := im.records[tp]
		if int64(len(records)) != p.Count {
			return im.fault("partitions", fmt.Errorf("expected the %d records of %v as record_data lines before, found %d: run VerifiableConsumer with --verbose", p.Count, tp, len(records)))
		}
		if p.Count == 0 {
			continue
		}
		from, known := im.positions[tp]
		first, last := records[0].Offset, records[len(records)-1].Offset
		if !known {
			e := im.event(event.PositionReset, tp)
			e.End, e.Text = first, "assign"
			im.emit(e)
		}
		if !known || first < from {
			from = first
		}
		e := im.event(event.PollOK, tp)
		e.Offset, e.End, e.Records, e.Session = from, last+1, records, im.session
		im.emit(e)
		im.positions[tp] = last + 1
		im.askCommit(tp, last+1)
	}
	clear(im.records)
	return nil
}

// askCommit begins the commit of what was just consumed.
func (im *importer) askCommit(tp kafka.TopicPartition, offset kafka.Offset) uint64 {
	im.operations++
	attempt := event.HashValue([]byte(im.file))&^0xffffffff | im.operations
	im.commits[commit{tp, offset}] = attempt
	e := im.event(event.CommitInvoke, tp)
	e.Attempt, e.Offset, e.Session = attempt, offset, im.session
	im.emit(e)
	return attempt
}

func (im *importer) committed(l *line) {
	for _, p := range l.Offsets {
		c := commit{p.tp(), kafka.Offset(p.Offset)}
		attempt, asked := im.commits[c]
		if !asked {
			attempt = im.askCommit(c.tp, c.offset)
		}
		delete(im.commits, c)
		k := event.CommitUnknown
		if l.Success {
			k = event.CommitOK
		}
		e := im.event(k, c.tp)
		e.Attempt, e.Offset, e.Session = attempt, c.offset, im.session
		im.emit(e)
	}
}

func (im *importer) moved(k event.Kind, tps []partition) {
	for _, p := range tps {
		e := im.event(k, p.tp())
		e.Session = im.session
		im.emit(e)
		delete(im.positions, p.tp())
	}
}
