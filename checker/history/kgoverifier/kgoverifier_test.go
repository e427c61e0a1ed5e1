package kgoverifier_test

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
	"tidemark/checker/history/kgoverifier"
	"tidemark/model/event"
)

var alone = history.ImportOptions{Alone: true}

func read(file, text string) (history.Stream, error) {
	return kgoverifier.Read(file, strings.NewReader(text), alone)
}

func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if !kgoverifier.Looks(b) {
		t.Errorf("%s does not look like kgo-verifier's", name)
	}
	return string(b)
}

func events(t *testing.T, text string) []event.Event {
	t.Helper()
	s, err := kgoverifier.Read("log", strings.NewReader(text), alone)
	if err != nil {
		t.Fatal(err)
	}
	return importtest.All(t, s)
}

func TestARunWhoseRetryWasWrittenTwicePasses(t *testing.T) {
	if r := checker.Check(events(t, text(t, "run.log"))); r.Verdict != checker.Pass {
		t.Errorf("%v %v %v", r.Verdict, r.Findings, r.Unknown)
	}
}

func TestLossAndStepBackAreFound(t *testing.T) {
	log := text(t, "run.log")
	for _, c := range []struct{ rule, old, new string }{
		{"lost-write", `time="2026-01-02T03:04:08Z" level=debug msg="Consumed 000000.000000000000000000 on p=0 at o=0 leaderEpoch=1"` + "\n", ""},
		{"nonmonotonic-poll", "on p=0 at o=2", "on p=0 at o=1"},
		{"inconsistent-offsets", "unexpected offset 2", "unexpected offset 0"},
	} {
		changed := strings.Replace(log, c.old, c.new, 1)
		if changed == log {
			t.Fatalf("%s: the sample has changed", c.rule)
		}
		if r := checker.Check(events(t, changed)); !slices.Contains(r.Broken(), c.rule) {
			t.Errorf("%s: %v %v %v", c.rule, r.Verdict, r.Broken(), r.Unknown)
		}
	}
}

func TestTheStateTellsWhatWasAcknowledgedBeforeTheLog(t *testing.T) {
	var got []string
	for _, e := range events(t, text(t, "valid_offsets_t.json")) {
		if e.Kind == event.SendOK {
			got = append(got, fmt.Sprintf("%v at %d, ns %d", e.TP(), e.Offset, e.At))
		}
	}
	if diff := cmp.Diff([]string{"kgo-verifier-0 at 0, ns 0", "kgo-verifier-1 at 0, ns 0"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadsThatAreNotSequentialAreEachAPollOfTheirOwn(t *testing.T) {
	log := strings.ReplaceAll(text(t, "run.log"), "Sequential read start offsets", "Random reads")
	polls := 0
	for _, e := range events(t, log) {
		if e.Kind == event.PollOK {
			polls++
			if e.End != e.Offset+1 {
				t.Errorf("a poll from %d to %d", e.Offset, e.End)
			}
		}
	}
	if polls != 4 {
		t.Errorf("%d polls, want one for each of 4 reads", polls)
	}
}

func TestWhatTheLogCannotTellIsRefused(t *testing.T) {
	line := func(msg string) string { return `time="2026-01-02T03:04:08Z" level=debug msg="` + msg + `"` }
	state := func(ranges string) string { return `{"PartitionRanges":[{"Ranges":[` + ranges + `]}]}` }
	importtest.Refused(t, "f", read, map[string]string{
		line("Configuring transactions with TransactionalID p1"):                                 `f:1: field "msg": expected a run without transactions`,
		line("Wrote partition 2147483647 at 1"):                                                  `f:1: field "msg": expected a partition of at most 8388607, found 2147483647`,
		line("Writing partition 0 at 99999999999999999999"):                                      `f:1: field "msg": expected an offset of at most 1099511627775, found 99999999999999999999`,
		line("Produced at unexpected offset 9223372036854775807 (expected 1) on partition 0"):    `f:1: field "msg": expected an offset of at most`,
		line("Consumed 000000.000000000000000012 on p=0 at o=9223372036854775807 leaderEpoch=1"): `f:1: field "msg": expected an offset of at most`,
		line("Consumed 000000.999999999999999999 on p=0 at o=1 leaderEpoch=1"):                   `f:1: field "msg": expected a record whose id is an offset of at most`,
		line("Sequential read start offsets: [3 99999999999999999999]"):                          `f:1: field "msg": expected an offset of at most`,
		line("Consumed key-3 on p=0 at o=0 leaderEpoch=1"):                                       `f:1: field "msg": expected a record whose key is its id`,
		`time="noon" level=debug msg="Wrote partition 0 at 1"`:                                   `f:1: field "time": expected a time such as`,
		`{"PartitionRanges":7}`:                                             `f:1: field "PartitionRanges": expected a list, found a number`,
		state(`{"Lower":0,"Upper":9223372036854775807}`):                    `f:1: field "PartitionRanges[0].Ranges[0].Upper": expected at most 1048576, which makes 1048576 acknowledged offsets in the whole state, found 9223372036854775807`,
		state(`{"Lower":9223372036854775000,"Upper":9223372036854775807}`):  `f:1: field "PartitionRanges[0].Ranges[0].Lower": expected an offset from 0 to 1099511627775`,
		state(`{"Lower":-9223372036854775808,"Upper":9223372036854775807}`): `f:1: field "PartitionRanges[0].Ranges[0].Lower": expected an offset from 0`,
		state(`{"Lower":0,"Upper":9},{"Lower":9,"Upper":3}`):                `f:1: field "PartitionRanges[0].Ranges[1].Upper": expected at least Lower, 9, found 3`,
		state(`{"Lower":0,"Upper":9},{"Lower":0,"Upper":1048570}`):          `f:1: field "PartitionRanges[0].Ranges[1].Upper": expected at most 1048567`,
		state(`{"Lower":1099511627770,"Upper":1099511627780}`):              `f:1: field "PartitionRanges[0].Ranges[0].Upper": expected at most 1099511627775`,
		state(`{"Lower":"0"}`):                                              `f:1: field "PartitionRanges.Ranges.Lower": expected a whole number of 64 bits, found a text`,
		`{"PartitionRanges":[`:                                              `f:1: the line ends within its JSON: was the file cut off?`,
	})
}

func FuzzRead(f *testing.F) {
	importtest.Fuzz(f, read, "testdata/run.log", "testdata/valid_offsets_t.json")
}
