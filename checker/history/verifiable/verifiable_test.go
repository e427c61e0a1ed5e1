package verifiable_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/checker"
	"tidemark/checker/history"
	"tidemark/checker/history/importtest"
	"tidemark/checker/history/verifiable"
	"tidemark/model/event"
)

// beside is a file that is one of several, from machines whose clocks differ by
// up to 5 ms.
var beside = history.ImportOptions{ClockErr: 5_000_000}

func read(file, text string) (history.Stream, error) {
	return verifiable.Read(file, strings.NewReader(text), beside)
}

func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if !verifiable.Looks(b) {
		t.Errorf("%s does not look like the tools' output", name)
	}
	return string(b)
}

func stream(t *testing.T, name, text string, o history.ImportOptions) history.Stream {
	t.Helper()
	s, err := verifiable.Read(name, strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// both judges what a producer and a consumer printed.
func both(t *testing.T, producer, consumer string) checker.Report {
	t.Helper()
	m, err := history.Merge(stream(t, "producer", producer, beside), stream(t, "consumer", consumer, beside))
	if err != nil {
		t.Fatal(err)
	}
	return checker.Check(importtest.All(t, m))
}

func TestProducersAndConsumersOutputIsJudgedAsOneHistory(t *testing.T) {
	if r := both(t, text(t, "producer.jsonl"), text(t, "consumer.jsonl")); r.Verdict != checker.Pass {
		t.Errorf("%v %v %v", r.Verdict, r.Findings, r.Unknown)
	}
}

func TestLossAndFailedWriteAreFound(t *testing.T) {
	producer, consumer := text(t, "producer.jsonl"), text(t, "consumer.jsonl")
	without := strings.NewReplacer(`{"timestamp":1400,"name":"record_data","key":null,"value":"7.0","topic":"t","partition":0,"offset":0}`+"\n", "",
		`"count":2,"minOffset":0`, `"count":1,"minOffset":1`).Replace(consumer)
	other := strings.Replace(consumer, `"value":"7.1"`, `"value":"7.9"`, 1)
	failed := strings.Replace(consumer, `"value":"7.2"`, `"value":"7.3"`, 1)
	for _, c := range []struct{ rule, consumer string }{
		{"inconsistent-offsets", other}, {"phantom", other}, {"failed-write-visible", failed},
	} {
		if r := both(t, producer, c.consumer); !slices.Contains(r.Broken(), c.rule) {
			t.Errorf("%s: %v %v %v", c.rule, r.Verdict, r.Broken(), r.Unknown)
		}
	}
	// A consumer that begins at offset 1 has not read past offset 0.
	if r := both(t, producer, without); slices.Contains(r.Broken(), "lost-write") {
		t.Errorf("a consumer that began later has lost nothing: %v", r.Findings)
	}
}

func TestAPollBeginsWhereTheLastOneEndedUntilThePartitionIsRevoked(t *testing.T) {
	again := `{"timestamp":1700,"name":"record_data","key":null,"value":"7.2","topic":"t","partition":0,"offset":2}
{"timestamp":1701,"name":"records_consumed","count":1,"partitions":[{"topic":"t","partition":0,"count":1,"minOffset":2,"maxOffset":2}]}
`
	var got []string
	for _, e := range importtest.All(t, stream(t, "c", text(t, "consumer.jsonl")+again, beside)) {
		if e.Kind == event.PollOK || e.Kind == event.PositionReset {
			got = append(got, fmt.Sprintf("%v %d..%d", e.Kind, e.Offset, e.End))
		}
	}
	want := []string{"position-reset -1..0", "poll 0..2", "poll 2..3", "position-reset -1..2", "poll 2..3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestErrorsAreDefiniteOnlyWhereNothingCanHaveBeenWritten(t *testing.T) {
	got := map[string]string{}
	for _, e := range importtest.All(t, stream(t, "p", text(t, "producer.jsonl"), beside)) {
		if e.Kind == event.SendOK || e.Kind == event.SendFail || e.Kind == event.SendUnknown {
			got[e.Text] = e.Kind.String()
		}
	}
	want := map[string]string{"7.0": "send-ok", "7.1": "send-ok", "7.2": "send-unknown", "7.3": "send-fail"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSendsAreOpenFromTheStartOfTheProducer(t *testing.T) {
	for _, e := range importtest.All(t, stream(t, "p", text(t, "producer.jsonl"), beside)) {
		if e.Kind == event.SendInvoke && e.At != 1000*1_000_000 {
			t.Errorf("%s is sent at %d", e.Text, e.At)
		}
		if e.Kind != event.Profile && e.ClockErr != 6_000_000 {
			t.Errorf("%v has clock error %d, want 5 ms and the millisecond that times are rounded to", e.Kind, e.ClockErr)
		}
	}
}

func TestOneFileAloneIsOrderedByItsLines(t *testing.T) {
	s := stream(t, "p", text(t, "producer.jsonl"), history.ImportOptions{Alone: true, ClockErr: 5})
	if h := s.Header(); h.Clock != history.BySeq || h.ClockErr != 0 {
		t.Errorf("%+v", h)
	}
}

func TestFaultyOutputIsToldWithFileLineAndField(t *testing.T) {
	importtest.Refused(t, "f", read, map[string]string{
		`{"timestamp":"x","name":"record_data"}`:                                                    `f:1: field "timestamp": expected a whole number of 64 bits, found a text`,
		`{"timestamp":1,"name":"record_data","value":"1","topic":"t","offset":9223372036854775807}`: `f:1: field "offset": expected an offset from 0 to 9223372036854775806, found 9223372036854775807`,
		`{"timestamp":1,"name":"producer_send_success","value":"1","topic":"t","offset":-9}`:        `f:1: field "offset": expected an offset, or -1 for acks=0, found -9`,
		`{"timestamp":1,"name":"record_data","value":"1","topic":"t","offset":-3}`:                  `f:1: field "offset": expected an offset from 0`,
		`{"name":"record_data"}`: `f:1: field "timestamp": missing`,
		"Error: no broker":       `f:1: expected a line of JSON as VerifiableProducer prints it`,
		`{"timestamp":1,"name":"producer_send_success","topic":"t"}`:                                                                           `f:1: field "value": missing`,
		`{"timestamp":1,"name":"records_consumed","count":2,"partitions":[{"topic":"t","partition":0,"count":2,"minOffset":0,"maxOffset":1}]}`: `f:1: field "partitions": expected the 2 records of t-0 as record_data lines before, found 0: run VerifiableConsumer with --verbose`,
	})
}

func FuzzRead(f *testing.F) {
	importtest.Fuzz(f, read, "testdata/producer.jsonl", "testdata/consumer.jsonl")
}

func TestTheToolsAreKnownHoweverTheirJSONIsSpaced(t *testing.T) {
	for begins, want := range map[string]bool{
		`{"timestamp":1,"name":"startup_complete"}`:      true,
		`{"timestamp": 1, "name": "startup_complete"}`:   true,
		` { "name" : "startup_complete", "timestamp" :1`: true,
		`{"seq": 1, "kind": "send"}`:                     false,
	} {
		if got := verifiable.Looks([]byte(begins)); got != want {
			t.Errorf("%s: %v, want %v", begins, got, want)
		}
	}
}
