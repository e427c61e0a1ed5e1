package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSweepPrintsTheSameWhateverTheNumberOfJobs(t *testing.T) {
	for _, extra := range [][]string{nil, {"--json"}, {"--rules", "truncate=toHW"}} {
		args := append([]string{"sweep", "--seeds", "1..8"}, extra...)
		_, one, _ := command(t, append(args, "--jobs", "1")...)
		_, four, errText := command(t, append(args, "--jobs", "4")...)
		if diff := cmp.Diff(one, four); diff != "" || one == "" || errText != "" {
			t.Errorf("%v: %q; one job and four print different things:\n%s", args, errText, diff)
		}
	}
}

func TestSummaryCountsVerdictsFaultsAndConditions(t *testing.T) {
	status, out, errText := command(t, "sweep", "--seeds", "1..20")
	if status != exitOK {
		t.Fatalf("exit status %d: %s\n%s", status, errText, out)
	}
	for _, want := range []string{"seeds 1..20, current rules: ", " pass, ", "acknowledged sends: ", "fired", "kill", "power", "cut", "stall",
		"condition", "election", "fencing", "ISR shrink", "ISR expand", "truncation", "unclean start", "torn batch recovered", "retry", "duplicate dropped"} {
		if !strings.Contains(out, want) {
			t.Errorf("the summary lacks %q:\n%s", want, out)
		}
	}
}

// violation returns the first line of a sweep's output that replays a violation.
func violation(t *testing.T, out string) string {
	t.Helper()
	_, list, _ := strings.Cut(out, "\nviolations\n")
	line, _, _ := strings.Cut(list, "\n")
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "tidemark run seed-") {
		t.Fatalf("no line that replays a violation:\n%s", out)
	}
	return line
}

func TestPrintedLineReplaysTheViolation(t *testing.T) {
	status, out, _ := command(t, "sweep", "--seeds", "1..40", "--rules", "truncate=toHW", "--set", "replica.lag.time.max.ms=20000")
	if status != exitViolation {
		t.Fatalf("exit status %d:\n%s", status, out)
	}
	line := violation(t, out)
	for _, flag := range []string{" --rules truncate=toHW", " --set replica.lag.time.max.ms=20000"} {
		if !strings.Contains(line, flag) {
			t.Errorf("%q lacks %q", line, flag)
		}
	}
	status, out, errText := command(t, strings.Fields(line)[1:]...)
	if status != exitViolation || !strings.Contains(out, "verdict: violation") {
		t.Errorf("%s: exit status %d\n%s%s", line, status, out, errText)
	}
}

func TestJSONHasALineForEachSeedAndOneForTheSummary(t *testing.T) {
	_, out, _ := command(t, "sweep", "--seeds", "3..9", "--json")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 8 {
		t.Fatalf("%d lines:\n%s", len(lines), out)
	}
	for i, line := range lines[:7] {
		var s sweptSeed
		if err := json.Unmarshal([]byte(line), &s); err != nil || s.Seed != uint64(3+i) || s.Verdict == "" || s.Sends == 0 || len(s.Digest) != 16 {
			t.Errorf("line %d: %v %s", i+1, err, line)
		}
	}
	var s sweepSummary
	if err := json.Unmarshal([]byte(lines[7]), &s); err != nil || s.Judged != 7 || s.Stopped || len(s.Conditions) == 0 || len(s.Faults) == 0 {
		t.Errorf("summary: %v %s", err, lines[7])
	}
}

func TestSweepThatIsStoppedSaysSoAndConcludesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	err := sweep(ctx, &out, io.Discard, sweepFlags{seeds: "1..1000000", jobs: 2})
	exit, ok := err.(*exitError)
	if !ok || exit.status != exitUnknown || !strings.Contains(out.String(), "stopped after 0 of 1000000 seeds") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestSweepUnderAcksOneLosesAndNobodyPromisedOtherwise(t *testing.T) {
	status, out, _ := command(t, "sweep", "--seeds", "1..12", "--set", "acks=1", "--json")
	if status != exitOK || strings.Contains(out, `"verdict":"violation"`) {
		t.Errorf("exit status %d\n%s", status, out)
	}
}

func TestBadSweepIsOneLineAndExitStatus2(t *testing.T) {
	for _, args := range [][]string{
		{}, {"--seeds", "9..1"}, {"--seeds", "a..b"}, {"--seeds", "1..2", "--jobs", "0"}, {"--seeds", "1..2", "x"},
		{"--seeds", "1..2", "--rules", "no=such"}, {"--seeds", "1..2", "--set", "acks"}, {"--seeds", "1..2", "--set", "acks=7"},
		{"--seeds", "1..2", "--set", "moon=full"}, {"--seeds", "1..2", "--set", "delivery.timeout.ms=1"}, {"--seeds", "1..2", "--config", "no/such"},
	} {
		status, out, errText := command(t, append([]string{"sweep"}, args...)...)
		if status != exitUsage || out != "" || strings.Count(errText, "\n") != 1 {
			t.Errorf("%v: exit status %d, stdout %q, stderr %q; want one line", args, status, out, errText)
		}
	}
}
