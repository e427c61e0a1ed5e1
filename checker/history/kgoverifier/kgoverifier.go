// Package kgoverifier reads what kgo-verifier (Redpanda's producer and readers for
// Kafka) leaves behind: its log with --debug, a logrus line for each write and read,
// and its state, valid_offsets_TOPIC.json.
//
//	time="2026-01-02T03:04:05Z" level=debug msg="Writing partition 0 at 12"
//	time="2026-01-02T03:04:05Z" level=debug msg="Wrote partition 0 at 12"
//	time="2026-01-02T03:04:06Z" level=debug msg="Consumed 000000.000000000000000012 on p=0 at o=12 leaderEpoch=1"
//	{"PartitionRanges":[{"Ranges":[{"Lower":0,"Upper":13}]}]}
//
// A record is known by its partition and the offset that its producer expected for
// it, which stands in its key; a write that landed elsewhere is an acknowledgement
// like any other here. A failed write stays open, for the log does not say which
// one failed. The state says which offsets were acknowledged, all of them before
// any line of a log. Reads after "Sequential read start offsets" go on from there
// without a gap; any other read is a poll of its own. Transactions are refused:
// the log does not tell which records were aborted.
package kgoverifier

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"tidemark/checker/history"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// Topic stands for the one topic that a run writes to and reads.
const Topic = "kgo-verifier"

// Names of the clients.
const (
	writer = "producer"
	reader = "reader"
)

// Looks reports whether a file that begins so is kgo-verifier's log or state.
func Looks(begins []byte) bool {
	b := bytes.TrimSpace(begins)
	inside, object := bytes.CutPrefix(b, []byte("{"))
	return bytes.HasPrefix(b, []byte(`time="`)) || object && bytes.HasPrefix(bytes.TrimSpace(inside), []byte(`"PartitionRanges"`))
}

// Read reads a whole file; file is its name in errors.
func Read(file string, r io.Reader, o history.ImportOptions) (*history.Slice, error) {
	im := &importer{file: file, known: map[uint64]bool{}, position: map[int32]kafka.Offset{}}
	in := bufio.NewReaderSize(r, 1<<16)
	if begins, _ := in.Peek(1 << 10); bytes.HasPrefix(bytes.TrimSpace(begins), []byte("{")) {
		if err := im.state(in); err != nil {
			return nil, err
		}
		return im.history(o), nil
	}
	for {
		text, err := in.ReadString('\n')
		im.number++
		if bad := im.take(strings.TrimSpace(text)); bad != nil {
			return nil, bad
		}
		if errors.Is(err, io.EOF) {
			im.flush()
			return im.history(o), nil
		}
		if err != nil {
			return nil, im.fault("", err)
		}
	}
}

// importer turns lines into events.
type importer struct {
	file   string
	number int
	at     int64 // ns
	events []history.Located
	known  map[uint64]bool // attempts that were begun; true: and acknowledged

	sequential bool                   // reads go on where the last one ended
	position   map[int32]kafka.Offset // of the sequential reader
	batch      []event.Record         // consumed one after the other in one partition
	partition  int32                  // its partition
	line       int                    // its first line
}

func (im *importer) history(o history.ImportOptions) *history.Slice {
	return history.NewSlice(im.file, o.Header("kgo-verifier", int64(time.Second)), im.events)
}

func (im *importer) fault(field string, err error) error {
	return &history.Error{File: im.file, Line: im.number, Field: field, Err: err}
}

func (im *importer) emit(e event.Event, line int) {
	e.At, e.Topic = im.at, Topic
	im.events = append(im.events, history.Located{Event: e, Line: line})
}

var (
	logLine = regexp.MustCompile(`^time="([^"]+)" level=(\w+) msg=("(?:[^"\\]|\\.)*"|\S+)`)
	message = regexp.MustCompile(`^(?:` + strings.Join([]string{
		`(?P<write>Writing partition (\d+) at (\d+))`,
		`(?P<wrote>Wrote partition (\d+) at (\d+))`,
		`(?P<astray>Produced at unexpected offset (\d+) \(expected (\d+)\) on partition (\d+))`,
		`(?P<read>Consumed (.*) on p=(\d+) at o=(\d+) leaderEpoch=(-?\d+))`,
		`(?P<start>Sequential read start offsets: \[([0-9 ]*)\])`,
		`(?P<txn>Configuring transactions with TransactionalID .*)`,
	}, "|") + `)$`)
)

// take reads one line. Lines that say nothing of the history are passed over.
func (im *importer) take(text string) error {
	if text == "" {
		return nil
	}
	part := logLine.FindStringSubmatch(text)
	if part == nil {
		return nil // a stack trace, a line of another program
	}
	at, err := time.Parse(time.RFC3339, part[1])
	if err != nil {
		return im.fault("time", fmt.Errorf("expected a time such as 2026-01-02T03:04:05Z, found %s", part[1]))
	}
	msg := part[3]
	if strings.HasPrefix(msg, `"`) {
		if msg, err = strconv.Unquote(msg); err != nil {
			return im.fault("msg", fmt.Errorf("expected a quoted text, found %s", part[3]))
		}
	}
	found := message.FindStringSubmatch(msg)
	if found == nil {
		return nil
	}
	groups := map[string][]string{}
	for i, name := range message.SubexpNames() {
		if name != "" && found[i] != "" {
			groups[name] = found[i+1:]
		}
	}
	if _, is := groups["read"]; !is {
		im.flush()
	}
	im.at = at.UnixNano()
	if err := im.bounded(groups); err != nil {
		return err
	}
	return im.say(groups)
}

// say turns a message into events, by the group that matched it.
func (im *importer) say(groups map[string][]string) error {
	if g, ok := groups["write"]; ok {
		im.write(number32(g[0]), number64(g[1]))
	}
	if g, ok := groups["wrote"]; ok {
		im.wrote(number32(g[0]), number64(g[1]), number64(g[1]))
	}
	if g, ok := groups["astray"]; ok {
		im.wrote(number32(g[2]), number64(g[1]), number64(g[0]))
	}
	if g, ok := groups["read"]; ok {
		return im.read(g[0], number32(g[1]), number64(g[2]), kafka.LeaderEpoch(number64(g[3])))
	}
	if g, ok := groups["start"]; ok {
		im.start(strings.Fields(g[0]))
	}
	if _, ok := groups["txn"]; ok {
		return im.fault("msg", errors.New("expected a run without transactions: the log does not say which records were aborted"))
	}
	return nil
}

// Highest offset and partition that an attempt's number has room for.
const (
	highest          = 1<<40 - 1
	highestPartition = 1<<23 - 1
)

// number64 reads digits that a pattern matched and bounded let through.
func number64(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic("kgoverifier: a number that was not looked at: " + s)
	}
	return n
}

func number32(s string) int32 { return int32(number64(s)) }

// bounded refuses numbers for which an attempt's number has no room.
func (im *importer) bounded(groups map[string][]string) error {
	for _, want := range numbers {
		g, ok := groups[want.group]
		if !ok {
			continue
		}
		digits := g[want.at : want.at+1]
		if want.group == "start" {
			digits = strings.Fields(g[0])
		}
		for _, d := range digits {
			if n, err := strconv.ParseInt(d, 10, 64); err != nil || n < -1 || n > want.most {
				return im.fault("msg", fmt.Errorf("expected %s of at most %d, found %s", want.what, want.most, d))
			}
		}
	}
	return nil
}

// numbers are where the messages have numbers, by the group of the message and the
// place in it.
var numbers = []struct {
	group string
	at    int
	what  string
	most  int64
}{
	{"write", 0, "a partition", highestPartition}, {"write", 1, "an offset", highest},
	{"wrote", 0, "a partition", highestPartition}, {"wrote", 1, "an offset", highest},
	{"astray", 2, "a partition", highestPartition}, {"astray", 0, "an offset", highest}, {"astray", 1, "an offset", highest},
	{"read", 1, "a partition", highestPartition}, {"read", 2, "an offset", highest}, {"read", 3, "a leader epoch", math.MaxInt32},
	{"start", 0, "an offset", highest},
}

// identify names the record for which the producer expected an offset.
func identify(partition int32, expected int64) (attempt, hash uint64, text string) {
	text = fmt.Sprintf("000000.%018d", expected)
	return uint64(partition+1)<<40 | uint64(expected), event.HashValue([]byte(fmt.Sprintf("%d %s", partition, text))), text
}

func (im *importer) send(k event.Kind, partition int32, expected int64) event.Event {
	e := event.New(k)
	e.Client, e.Partition, e.Acks = writer, partition, -1
	e.Attempt, e.Hash, e.Text = identify(partition, expected)
	return e
}

// write begins a write. One that a restarted producer does again, for the same
// offset, goes on with the first.
func (im *importer) write(partition int32, expected int64) {
	e := im.send(event.SendInvoke, partition, expected)
	if _, begun := im.known[e.Attempt]; !begun {
		im.known[e.Attempt] = false
		im.emit(e, im.number)
	}
}

func (im *importer) wrote(partition int32, expected, offset int64) {
	im.write(partition, expected)
	e := im.send(event.SendOK, partition, expected)
	if im.known[e.Attempt] {
		return
	}
	im.known[e.Attempt] = true
	e.Offset = kafka.Offset(offset)
	im.emit(e, im.number)
}

var recordID = regexp.MustCompile(`^\d{6}\.(\d{18})$`)

// read takes a record in; records of one partition in a row are one poll.
func (im *importer) read(key string, partition int32, offset int64, epoch kafka.LeaderEpoch) error {
	id := recordID.FindStringSubmatch(key)
	if id == nil {
		return im.fault("msg", fmt.Errorf("expected a record whose key is its id, such as 000000.000000000000000012, found %s: run kgo-verifier without --key-set-cardinality", key))
	}
	if n := len(im.batch); n > 0 && (im.partition != partition || im.batch[n-1].Offset >= kafka.Offset(offset) || !im.sequential) {
		im.flush()
	}
	if len(im.batch) == 0 {
		im.partition, im.line = partition, im.number
	}
	expected := number64(id[1])
	if expected > highest {
		return im.fault("msg", fmt.Errorf("expected a record whose id is an offset of at most %d, found %s", int64(highest), key))
	}
	attempt, hash, _ := identify(partition, expected)
	im.batch = append(im.batch, event.Record{Offset: kafka.Offset(offset), Epoch: epoch, Attempt: attempt, Hash: hash})
	return nil
}

// flush ends the poll at hand.
func (im *importer) flush() {
	if len(im.batch) == 0 {
		return
	}
	first := im.batch[0].Offset
	from, known := im.position[im.partition]
	if !known || !im.sequential {
		im.seek(im.partition, first)
		from = first
	}
	e := event.New(event.PollOK)
	e.Client, e.Partition, e.Records = reader, im.partition, im.batch
	e.Offset, e.End = min(from, first), im.batch[len(im.batch)-1].Offset+1
	im.emit(e, im.line)
	im.position[im.partition], im.batch = e.End, nil
}

func (im *importer) seek(partition int32, to kafka.Offset) {
	e := event.New(event.PositionReset)
	e.Client, e.Partition, e.End, e.Text = reader, partition, to, "seek"
	im.emit(e, im.number)
}

// start puts the sequential reader at offsets, by partition.
func (im *importer) start(offsets []string) {
	im.sequential = true
	for p, o := range offsets {
		at := kafka.Offset(number64(o))
		im.seek(int32(p), at)
		im.position[int32(p)] = at
	}
}

// ranges is valid_offsets_TOPIC.json.
type ranges struct {
	PartitionRanges []struct {
		Ranges []offsets
	}
}

// offsets are acknowledged ones in a row; Upper is exclusive.
type offsets struct{ Lower, Upper int64 }

// mostAcknowledged is how many offsets a state may tell: each becomes two events in
// memory, so a few digits too many in the file would fill any machine's.
const mostAcknowledged = 1 << 20

// badBound is the bound of a row that is wrong, and why.
type badBound struct {
	field string
	err   error
}

// fault bounds the row before anybody counts through it; left is how many more
// offsets the state may tell.
func (o offsets) fault(left int64) badBound {
	switch {
	case o.Lower < 0 || o.Lower > highest:
		return badBound{"Lower", fmt.Errorf("expected an offset from 0 to %d, found %d", int64(highest), o.Lower)}
	case o.Upper < o.Lower:
		return badBound{"Upper", fmt.Errorf("expected at least Lower, %d, found %d", o.Lower, o.Upper)}
	case o.Upper > highest || o.Upper-o.Lower > left:
		return badBound{"Upper", fmt.Errorf("expected at most %d, which makes %d acknowledged offsets in the whole state, found %d: give the logs alone",
			min(o.Lower+left, highest), int64(mostAcknowledged), o.Upper)}
	}
	return badBound{}
}

// state reads which offsets were acknowledged.
func (im *importer) state(r io.Reader) error {
	var all ranges
	text, err := io.ReadAll(r)
	if err != nil {
		return im.fault("", err)
	}
	im.number = 1
	if err := json.Unmarshal(text, &all); err != nil {
		return im.fault(history.JSONFault(text, `kgo-verifier's state, {"PartitionRanges":[{"Ranges":[{"Lower":0,"Upper":13}]}]}`, err))
	}
	left := int64(mostAcknowledged)
	for p := range all.PartitionRanges {
		for i, part := range all.PartitionRanges[p].Ranges {
			bad := part.fault(left)
			if bad.err != nil {
				return im.fault(fmt.Sprintf("PartitionRanges[%d].Ranges[%d].%s", p, i, bad.field), bad.err)
			}
			left -= part.Upper - part.Lower
			for o := part.Lower; o < part.Upper; o++ {
				im.wrote(int32(p), o, o)
			}
		}
	}
	return nil
}
