package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"tidemark/checker"
	"tidemark/checker/history"
	"tidemark/model/event"
)

const head = `{"tidemark_history":1,"world":"closed","clock":"seq"}` + "\n"

// read reads all events of a history.
func read(s history.Stream) ([]event.Event, error) {
	var all []event.Event
	for {
		var e event.Event
		if err := s.Next(&e); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return all, err
		}
		e.Records, e.ISR = slices.Clone(e.Records), slices.Clone(e.ISR)
		all = append(all, e)
	}
}

func open(t *testing.T, file, text string) *history.Reader {
	t.Helper()
	r, err := history.NewReader(file, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func judge(t *testing.T, s history.Stream) checker.Report {
	t.Helper()
	events, err := read(s)
	if err != nil {
		t.Fatal(err)
	}
	return checker.Check(append(s.Header().Events(), events...))
}

// example is the history in FORMAT.md.
func example(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "```json\n")
	block, _, closed := strings.Cut(after, "```")
	if !ok || !closed {
		t.Fatal("FORMAT.md has no example")
	}
	return block
}

func TestTheExampleOfTheFormatPassesAndItsTwinsDoNot(t *testing.T) {
	text := example(t)
	if r := judge(t, open(t, "FORMAT.md", text)); r.Verdict != checker.Pass {
		t.Fatalf("the example: %v %v %v", r.Verdict, r.Findings, r.Unknown)
	}
	for what, twin := range map[string]string{
		"a larger offset": strings.Replace(text, `"kind":"send-ok","client":"a","topic":"orders","partition":0,"offset":0`, `"kind":"send-ok","client":"a","topic":"orders","partition":0,"offset":1`, 1),
		"a record less":   strings.Replace(text, `,{"offset":1,"epoch":0,"attempt":2,"hash":"af63df4c8601f1a5"}]`, `]`, 1),
		"one nobody sent": strings.Replace(text, `"epoch":0,"attempt":2,"hash":"af63df4c8601f1a5"`, `"epoch":0,"attempt":3,"hash":"af63df4c8601f1a6"`, 1),
	} {
		if twin == text {
			t.Fatalf("%s: the example has changed, and its twin has not", what)
		}
		if r := judge(t, open(t, what, twin)); r.Verdict != checker.Violation {
			t.Errorf("%s: %v %v %v", what, r.Verdict, r.Findings, r.Unknown)
		}
	}
}

func TestEveryKindOfTheClientHistoryIsInTheFormatsDocument(t *testing.T) {
	text, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range event.Kinds() {
		name := k.String()
		for _, end := range []string{"-ok", "-fail", "-unknown"} {
			if base, ok := strings.CutSuffix(name, end); ok && base != "send" && base != "commit" {
				name = base
			}
		}
		if (k >= event.PollInvoke || k <= event.TruncationDetected) && !bytes.Contains(text, []byte("`"+name+"`")) {
			t.Errorf("FORMAT.md does not tell of %v", k)
		}
	}
}

func TestWriterAndReaderKeepHeaderAndEvents(t *testing.T) {
	h := history.Header{Open: true, Source: "a \"test\"", Clock: history.ByTime, ClockErr: 5000,
		Profile: []history.Setting{{Scope: "cluster", Key: "min.insync.replicas", Value: "2"}, {Scope: "producer p", Key: "acks", Value: "all"}}}
	var want []event.Event
	var file bytes.Buffer
	w := history.NewWriter(&file, h)
	history.Generate(history.Load{Operations: 300, Partitions: 2, Clients: 5}, func(e *event.Event) {
		e.ClockErr = 7
		w.Write(e)
		kept := *e
		kept.Records = slices.Clone(e.Records)
		want = append(want, kept)
	})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	// A byte at a time: lines must not depend on how the file arrives.
	r, err := history.NewReader("f", iotest.OneByteReader(bytes.NewReader(file.Bytes())))
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, r.Header()); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestReaderFindsAFewEventsWithoutTheOthers(t *testing.T) {
	lines := []string{`{"tidemark_history":1}`}
	for seq := 1; seq <= 3; seq++ {
		lines = append(lines, fmt.Sprintf(`{"seq":%d,"kind":"client-crashed","client":"c%d"}`, seq*5, seq))
	}
	r, err := history.NewReader("h", strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	r.Only(map[uint64]bool{10: true})
	var e event.Event
	if err := r.Next(&e); err != nil || e.Seq != 10 || e.Client != "c2" {
		t.Errorf("got event %d of %q, %v; want event 10 of c2", e.Seq, e.Client, err)
	}
	if _, line := r.At(); line != 3 {
		t.Errorf("it is said to stand in line %d, want 3", line)
	}
	if err := r.Next(&e); !errors.Is(err, io.EOF) {
		t.Errorf("after the last one: %v", err)
	}
}

func TestAFewEventsAreFoundHoweverTheLinesAreSpaced(t *testing.T) {
	for _, line := range []string{
		`{"seq": %d, "kind": "client-crashed", "client": "c"}`,
		`{ "seq" : %d , "kind" : "client-crashed" , "client" : "c" }`,
		"{\t\"seq\"\t:\t%d\t,\"kind\":\"client-crashed\",\"client\":\"c\"}",
		`{"kind": "client-crashed", "seq": %d, "client": "c"}`,
		`{"client":"c","kind":"client-crashed","seq":%d}`,
	} {
		text := `{"tidemark_history": 1}`
		for seq := 1; seq <= 12; seq++ {
			text += "\n" + fmt.Sprintf(line, seq)
		}
		r := open(t, "h", text)
		r.Only(map[uint64]bool{3: true, 10: true})
		events, err := read(r)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		for _, want := range []uint64{3, 10} {
			if !slices.ContainsFunc(events, func(e event.Event) bool { return e.Seq == want }) {
				t.Errorf("%s: event %d was passed over", line, want)
			}
		}
		if strings.HasPrefix(strings.TrimLeft(line, "{ \t"), `"seq"`) && len(events) != 2 {
			t.Errorf("%s: %d events, want the 2 alone", line, len(events))
		}
	}
}

func TestLinesWithoutNumbersAreNumberedAsTheyStand(t *testing.T) {
	events, err := read(open(t, "f", head+`{"kind":"client-crashed","client":"a"}`+"\n\n"+`{"kind":"client-crashed","client":"b"}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(events) != 2 || events[0].Seq != 1 || events[1].Seq != 2 {
		t.Errorf("%+v", events)
	}
}

func TestFaultyLineIsToldWithFileLineFieldAndWhatWasExpected(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `h: expected a history, found an empty file`},
		{"hello\n", `h:1: expected a header line such as`},
		{`{"seq":1}`, `h:1: field "tidemark_history": missing`},
		{`{"tidemark_history":2}`, `h:1: field "tidemark_history": expected 1, found 2: a newer tidemark wrote this`},
		{`{"tidemark_history":0}`, `h:1: field "tidemark_history": expected 1, found 0: there is no such version`},
		{`{"tidemark_history":-1}`, `h:1: field "tidemark_history": expected 1, found -1: there is no such version`},
		{`{"tidemark_history":"1"}`, `h:1: field "tidemark_history": expected a whole number of 64 bits, found a text`},
		{`{"tidemark_history":1.5}`, `h:1: field "tidemark_history": expected a whole number of 64 bits, found 1.5`},
		{`{"tidemark_history":1,"world":3}`, `h:1: field "world": expected a text in quotes, found a number`},
		{`{"tidemark_history":1,"profile":[]}`, `h:1: field "profile": expected an object, found a list`},
		{`{"tidemark_history":1,"profile":{"cluster":true}}`, `h:1: field "profile": expected an object, found true or false: scope, key and value are texts`},
		{`[1]`, `h:1: expected a header line such as {"tidemark_history":1,"world":"closed","clock":"seq"}, found a list`},
		{`{"tidemark_history":1,"wor`, `h:1: the line ends within its JSON: was the file cut off?`},
		{`{"tidemark_history":1,"world":`, `h:1: the line ends within its JSON: was the file cut off?`},
		{head + `{"kind":"died","hw":-9}`, `h:2: field "hw": expected -1, for none, or more, found -9`},
		{head + `{"kind":"died","lso":-2}`, `h:2: field "lso": expected -1, for none, or more, found -2`},
		{head + `{"kind":"died","end":-2}`, `h:2: field "end": expected -1, for none, or more, found -2`},
		{head + "{\"kind\":\"\x1b[31m\"}", `h:2: field "kind": expected a kind in quotes, found "\x1b[31m"`},
		{`{"tidemark_history":1,"world":"flat"}`, `h:1: field "world": expected open or closed, found "flat"`},
		{`{"tidemark_history":1,"clock":"sun"}`, `h:1: field "clock": expected seq or time, found "sun"`},
		{`{"tidemark_history":1,"profile":{"cluster":{"a":2}}}`, `h:1: field "profile": expected a text in quotes, found a number: scope, key and value are texts`},
		{head + `{"seq":1,"kind":"died"}` + "\n" + `{"seq":x}`, `h:3: field "seq": expected a whole number from 0 to 18446744073709551615, found x`},
		{head + `{"seq":1,"kind":"sent"}`, `h:2: field "kind": expected a kind of event (see FORMAT.md), found "sent"`},
		{head + `{"seq":1}`, `h:2: field "kind": missing`},
		{head + `{"kind":"send-ok","client":"p","topic":"t","partition":0}`, `h:2: field "attempt": missing: an event of kind send-ok needs it`},
		{head + `{"kind":"died","offset":1.5}`, `h:2: field "offset": expected a whole number from -9223372036854775808 to 9223372036854775807, found 1.5`},
		{head + `{"kind":"died","hash":12}`, `h:2: field "hash": expected a hash: up to 16 hexadecimal digits in quotes, found 12`},
		{head + `{"kind":"died","client":null,"text":"kill`, `h:2: field "text": the line ends within its JSON`},
		{head + `{"kind":"poll","client":"c","topic":"t","partition":0,"offset":0,"end":2,"records":[{"offset":"x"}]}`, `h:2: field "records.offset": expected a whole number`},
		{head + `{"kind":"poll","client":"c","topic":"t","partition":0,"offset":0,"end":2,"records":[{"offset":2}]}`, `h:2: field "records": expected offsets from 0 to 1`},
		{head + `{"kind":"poll","client":"c","topic":"t","partition":0,"offset":3,"end":2}`, `h:2: field "end": expected at least the offset, 3`},
		{head + `{"kind":"poll","client":"c","topic":"t","partition":0,"offset":-1,"end":2}`, `h:2: field "offset": expected 0 or more, found -1`},
		{head + `{"kind":"send-ok","client":"c","topic":"t","partition":0,"attempt":1,"offset":-2}`, `h:2: field "offset": expected -1 or more, found -2`},
		{head + `{"kind":"position-reset","client":"c","topic":"t","partition":0,"end":-1}`, `h:2: field "end": expected 0 or more, found -1`},
		{head + `{"kind":"commit","client":"c","topic":"t","partition":0,"attempt":1,"offset":-1,"session":{}}`, `h:2: field "offset": expected 0 or more, found -1`},
		{head + `{"kind":"txn-begin","client":"c","session":{"txn":-1}}`, `h:2: field "session.txn": expected a whole number`},
		{head + `{"seq":4,"kind":"died"}` + "\n" + `{"seq":4,"kind":"died"}`, `h:3: field "seq": expected more than 4, which the event before has, found 4: sort the lines by seq`},
		{head + `{"seq":4,"kind":"died"}` + "\n" + `{"kind":"died"}`, `h:3: field "seq": missing: the first event has one`},
		{head + head, `h:2: expected an event, found a second header`},
		{head + `{"kind":"died"} {`, `h:2: expected the end of the line, found {`},
	} {
		r, err := history.NewReader("h", strings.NewReader(c.text))
		if err == nil {
			_, err = read(r)
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestHistorySplitByPartitionOrByClientIsReadAsOne(t *testing.T) {
	load := history.Load{Operations: 2000, Partitions: 4, Clients: 10}
	for name, part := range map[string]func(*event.Event) int{
		"partition": func(e *event.Event) int { return int(e.Partition) },
		"client":    func(e *event.Event) int { return len(e.Client) % 4 },
	} {
		var whole bytes.Buffer
		files := make([]bytes.Buffer, 4)
		all := history.NewWriter(&whole, load.Header())
		var parts []*history.Writer
		for i := range files {
			parts = append(parts, history.NewWriter(&files[i], load.Header()))
		}
		history.Generate(load, func(e *event.Event) {
			all.Write(e)
			parts[part(e)].Write(e)
		})
		var streams []history.Stream
		for i, w := range parts {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			streams = append(streams, open(t, fmt.Sprint("part", i), files[i].String()))
		}
		if err := all.Flush(); err != nil {
			t.Fatal(err)
		}
		want, err := read(open(t, "whole", whole.String()))
		if err != nil {
			t.Fatal(err)
		}
		m, err := history.Merge(streams...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(m)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("by %s (-whole +merged):\n%s", name, diff)
		}
	}
}

func TestFilesThatAreNotOneHistoryAreRefused(t *testing.T) {
	crash := `{"seq":1,"kind":"client-crashed","client":"a"}`
	byTime := `{"tidemark_history":1,"clock":"time"}` + "\n"
	for _, c := range []struct{ a, b, want string }{
		{head + crash, head + crash, `b:2: field "seq": expected a number of its own, found 1`},
		{head + crash, byTime + crash, `b:1: field "clock": expected seq, as a has it, found time`},
		{`{"tidemark_history":1,"profile":{"cluster":{"k":"1"}}}`, `{"tidemark_history":1,"profile":{"cluster":{"k":"2"}}}`,
			`b:1: field "profile": expected k=1 for cluster, as another file of the history says, found 2`},
	} {
		m, err := history.Merge(open(t, "a", c.a), open(t, "b", c.b))
		if err == nil {
			_, err = read(m)
		}
		if err == nil || err.Error() != c.want && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

func TestFilesOrderedByTimeAreNumberedAnewAndKeepTheirClockError(t *testing.T) {
	a := `{"tidemark_history":1,"clock":"time","clock_err_ns":50,"world":"open"}
{"t_ns":10,"kind":"client-crashed","client":"a1"}
{"t_ns":30,"clock_err_ns":9,"kind":"client-crashed","client":"a3"}
`
	b := `{"tidemark_history":1,"clock":"time","clock_err_ns":70}
{"seq":7,"t_ns":20,"kind":"client-crashed","client":"b2"}
{"seq":9,"t_ns":30,"kind":"client-crashed","client":"b4"}
`
	m, err := history.Merge(open(t, "a", a), open(t, "b", b))
	if err != nil {
		t.Fatal(err)
	}
	events, err := read(m)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprintf("%d %s %d", e.Seq, e.Client, e.ClockErr))
	}
	if diff := cmp.Diff([]string{"1 a1 50", "2 b2 70", "3 a3 9", "4 b4 70"}, got); diff != "" {
		t.Error(diff)
	}
	if !m.Header().Open {
		t.Error("a part of an open world makes a closed one")
	}
}

func TestGeneratedHistoryPassesAndItsIllegalTwinDoesNot(t *testing.T) {
	for _, illegal := range []bool{false, true} {
		load := history.Load{Operations: 5000, Partitions: 3, Clients: 12, Illegal: illegal}
		c := checker.New()
		for _, e := range load.Header().Events() {
			c.Observe(&e)
		}
		operations := 0
		history.Generate(load, func(e *event.Event) {
			if e.Kind == event.SendInvoke || e.Kind == event.PollOK {
				operations++
			}
			c.Observe(e)
		})
		want := checker.Pass
		if illegal {
			want = checker.Violation
		}
		r := c.Report()
		if r.Verdict != want || illegal && !slices.Contains(r.Broken(), "real-time-inversion") {
			t.Errorf("illegal %v: %v %v %v", illegal, r.Verdict, r.Broken(), r.Unknown)
		}
		if operations < 4900 || operations > 5100 {
			t.Errorf("%d operations, asked for 5000", operations)
		}
	}
}
