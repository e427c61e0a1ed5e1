package kgoverifier_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/checker"
	"tidemark/checker/history"
	"tidemark/checker/history/kgoverifier"
	"tidemark/model/event"
)

var alone = history.ImportOptions{Alone: true}

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
	all := s.Header().Events()
	for {
		var e event.Event
		if err := s.Next(&e); errors.Is(err, io.EOF) {
			return all
		}
		all = append(all, e)
	}
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
	for in, want := range map[string]string{
		line("Configuring transactions with TransactionalID p1"): `f:1: field "msg": expected a run without transactions`,
		line("Consumed key-3 on p=0 at o=0 leaderEpoch=1"):       `f:1: field "msg": expected a record whose key is its id`,
		`time="noon" level=debug msg="Wrote partition 0 at 1"`:   `f:1: field "time": expected a time such as`,
		`{"PartitionRanges":7}`:                                  `f: field "PartitionRanges": expected kgo-verifier's valid_offsets`,
	} {
		_, err := kgoverifier.Read("f", strings.NewReader(in), alone)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", in, err, want)
		}
	}
}

// FuzzRead: any file is read or refused in one line, and what is read the
// checker can judge.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"run.log", "valid_offsets_t.json"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := kgoverifier.Read("f", strings.NewReader(text), alone)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("not one line: %v", err)
			}
			return
		}
		c := checker.New()
		for {
			var e event.Event
			if err := s.Next(&e); err != nil {
				break
			}
			c.Observe(&e)
		}
		c.Report()
	})
}
