package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/checker"
	"tidemark/checker/history"
	"tidemark/model/event"
)

// Lines of small histories: a producer's record a at 0, another's b at 1, and a
// reader.
const (
	checkHead = `{"tidemark_history":1,"world":"closed","clock":"seq","profile":{"cluster":{"min.insync.replicas":"2"}}}`
	sendA     = `{"seq":1,"t_ns":1000000,"kind":"send","client":"p","topic":"t","partition":0,"attempt":1,"hash":"a","acks":-1,"text":"a"}`
	ackA      = `{"seq":2,"t_ns":2000000,"kind":"send-ok","client":"p","topic":"t","partition":0,"offset":0,"attempt":1,"hash":"a","acks":-1,"text":"a"}`
	sendB     = `{"seq":3,"t_ns":3000000,"kind":"send","client":"q","topic":"t","partition":0,"attempt":4294967297,"hash":"b","acks":-1,"text":"b"}`
	ackB      = `{"seq":4,"t_ns":4000000,"kind":"send-ok","client":"q","topic":"t","partition":0,"offset":1,"attempt":4294967297,"hash":"b","acks":-1,"text":"b"}`
	readBoth  = `{"seq":5,"t_ns":5000000,"kind":"poll","client":"c","topic":"t","partition":0,"offset":0,"end":2,"hw":2,"drained":true,"records":[{"offset":0,"attempt":1,"hash":"a"},{"offset":1,"attempt":4294967297,"hash":"b"}]}`
	readOnlyB = `{"seq":5,"t_ns":5000000,"kind":"poll","client":"c","topic":"t","partition":0,"offset":0,"end":2,"hw":2,"drained":true,"records":[{"offset":1,"attempt":4294967297,"hash":"b"}]}`
)

// historyFile writes lines to a file and returns its name.
func historyFile(t *testing.T, name string, lines ...string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func legalFile(t *testing.T) string {
	return historyFile(t, "legal.jsonl", checkHead, sendA, ackA, sendB, ackB, readBoth)
}

func lossFile(t *testing.T) string {
	return historyFile(t, "loss.jsonl", checkHead, sendA, ackA, sendB, ackB, readOnlyB)
}

func TestCheckTellsVerdictAndStatus(t *testing.T) {
	for _, c := range []struct {
		what, file string
		status     int
		verdict    string
	}{
		{"a legal history", legalFile(t), exitOK, "verdict: pass\n"},
		{"a lost record", lossFile(t), exitViolation, "verdict: violation: "},
		{"nothing to judge", historyFile(t, "empty.jsonl", checkHead), exitUnknown, "verdict: unknown\n"},
	} {
		status, out, errText := command(t, "check", c.file)
		if status != c.status || !strings.Contains(out, c.verdict) || errText != "" {
			t.Errorf("%s: status %d, stderr %q\n%s", c.what, status, errText, out)
		}
	}
}

func TestARuleThatJudgedNothingIsUnknownAndNotPassed(t *testing.T) {
	_, out, _ := command(t, "check", "--json", legalFile(t))
	var s checkSummary
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Rules {
		if (r.Checks == 0) != (r.Verdict == "unknown") {
			t.Errorf("%s: %s after %d checks", r.Rule, r.Verdict, r.Checks)
		}
	}
	if len(s.Rules) < 20 {
		t.Errorf("%d rules", len(s.Rules))
	}
}

func TestRulesWithNothingToJudgeAreCountedAndNamedWhenAsked(t *testing.T) {
	file := legalFile(t)
	var idle []string
	for _, r := range judgedHistory(t, file).Rules {
		if r.Checks == 0 {
			idle = append(idle, r.Rule)
		}
	}
	count := fmt.Sprintf("\nunknown: %d of %d rules, for this history has nothing for them to judge", len(idle), len(checker.Promises()))
	if _, out, _ := command(t, "check", file); !strings.Contains(out, count+" (-v names them)\n\nverdict: pass\n") {
		t.Errorf("%q is missing in\n%s", count, out)
	}
	_, out, _ := command(t, "check", "-v", file)
	_, names, found := strings.Cut(out, count+":\n")
	names, _, _ = strings.Cut(names, "\n\n")
	if got := strings.Fields(strings.ReplaceAll(names, ",", "")); !found || !slices.Equal(got, idle) {
		t.Errorf("-v names %v, want %v", got, idle)
	}
	for line := range strings.Lines(names) {
		if len(strings.TrimSuffix(line, "\n")) > 100 {
			t.Errorf("a line of %d columns: %s", len(line)-1, line)
		}
	}
}

func TestFindingIsShownWithItsWitnessesOneLineEach(t *testing.T) {
	file := lossFile(t)
	_, out, _ := command(t, "check", file)
	for _, want := range []string{
		"violation lost-write\n",
		file + `:3  event 2  2ms  p send-ok t-0 attempt 1 offset 0 acks=-1 "a"`,
		file + `:6  event 5  5ms  c poll t-0 from 0 to 2 1=attempt 1 drained`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

func TestProfileDecidesWhatIsAViolation(t *testing.T) {
	loss := lossFile(t)
	stranger := historyFile(t, "stranger.jsonl", checkHead, sendA, ackA, strings.NewReplacer("4294967297", "7", `"attempt":1,"hash":"a"`, `"attempt":1,"hash":"a"`).Replace(readBoth))
	properties := filepath.Join(t.TempDir(), "producer.properties")
	if err := os.WriteFile(properties, []byte("# weak\nacks: 1\nlinger.ms=5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file    string
		profile []string
		broken  string // a rule, "" for none
		noted   string
	}{
		{loss, nil, "lost-write", ""},
		{loss, []string{"acks=all"}, "lost-write", ""},
		{loss, []string{"acks=1"}, "", "lost-write"},
		{loss, []string{properties}, "", "lost-write"},
		{stranger, nil, "phantom", ""},
		{stranger, []string{"history.world=open"}, "", "phantom"},
	} {
		args := []string{"check", "--json", c.file}
		for _, p := range c.profile {
			args = append(args, "--profile", p)
		}
		_, out, errText := command(t, args...)
		var s checkSummary
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatalf("%v: %v %s", args, err, errText)
		}
		if c.broken != "" && !slices.Contains(s.Broken, c.broken) || c.broken == "" && slices.Contains(s.Broken, c.noted) {
			t.Errorf("%v: %s %v, want %q broken", args, s.Verdict, s.Broken, c.broken)
		}
		if c.noted != "" && !slices.ContainsFunc(s.Notes, func(n checkNote) bool { return n.Rule == c.noted }) {
			t.Errorf("%v: no note of %s in %v", args, c.noted, s.Notes)
		}
	}
}

func TestBadInputIsOneLineAndStatus2(t *testing.T) {
	legal := legalFile(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"check"}, "check takes the files of one history"},
		{[]string{"check", "no-such-file"}, "no-such-file: cannot be read: no such file or directory"},
		{[]string{"check", t.TempDir()}, "cannot be read: it is a directory"},
		{[]string{"check", legal, legal}, "is given twice"},
		{[]string{"check", "--format", "xml", legal}, `--format is "xml": write one of auto, tidemark, jepsen`},
		{[]string{"check", "--profile", "acks=7", legal}, "--profile: acks"},
		{[]string{"check", "--profile", "topic.t.cleanup.policy=shrink", legal}, "--profile: cleanup.policy: shrink is not"},
		{[]string{"check", "--profile", "history.world=flat", legal}, "expected open or closed"},
		{[]string{"check", "--profile", "none.properties", legal}, "none.properties cannot be read"},
		{[]string{"check", "--clock-error", "-1s", legal}, "--clock-error is -1s"},
		{[]string{"check", historyFile(t, "cut.jsonl", checkHead, sendA[:40])}, `cut.jsonl:2: the line ends within its JSON`},
		{[]string{"check", historyFile(t, "odd.jsonl", checkHead, strings.Replace(sendA, `"partition":0`, `"partition":"0"`, 1))},
			`odd.jsonl:2: field "partition": expected a whole number`},
		{[]string{"check", historyFile(t, "h.gz", "\x1f\x8b\x08")}, "h.gz: expected text, found a file that is none: it is compressed with gzip: decompress it first"},
		{[]string{"check", historyFile(t, "utf16", "\xff\xfe{\x00")}, "it is UTF-16: write it as UTF-8"},
		{[]string{"check", historyFile(t, "notes", "hello")}, "notes:1: expected a header line such as"},
		{[]string{"check", historyFile(t, "notes", "hello")}, "if it is a history of another format, say which: --format jepsen, verifiable, kgo-verifier"},
		{[]string{"check", historyFile(t, "state.json", `{"PartitionRanges": [{"Ranges": [{"Lower": 0, "Upper": 9223372036854775807}]}]}`)},
			`state.json:1: field "PartitionRanges[0].Ranges[0].Upper": expected at most`},
		{[]string{"check", historyFile(t, "h.edn", "{:type :invoke")}, "h.edn:1: the text ends within a value"},
	} {
		status, out, errText := command(t, c.args...)
		if status != exitUsage || out != "" || !strings.Contains(errText, c.want) || strings.Count(errText, "\n") != 1 {
			t.Errorf("%v: status %d, stdout %q, stderr %q, want %q", c.args, status, out, errText, c.want)
		}
	}
}

func TestHistoryInPartsHasTheVerdictAndTheWitnessesOfTheWhole(t *testing.T) {
	load := history.Load{Operations: 3000, Partitions: 3, Clients: 8, Illegal: true}
	dir := t.TempDir()
	names := []string{"whole", "part-0", "part-1", "part-2"}
	writers, files := map[string]*history.Writer{}, []*os.File{}
	for i, n := range names {
		names[i] = filepath.Join(dir, n)
		f, err := os.Create(names[i])
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		writers[n] = history.NewWriter(f, load.Header())
	}
	history.Generate(load, func(e *event.Event) {
		writers["whole"].Write(e)
		writers["part-"+string(rune('0'+e.Partition))].Write(e)
	})
	for _, w := range writers {
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		f.Close()
	}
	status, whole, _ := command(t, "check", "--json", names[0])
	partStatus, parts, _ := command(t, append([]string{"check", "--json"}, names[1:]...)...)
	var a, b checkSummary
	if err := json.Unmarshal([]byte(whole), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(parts), &b); err != nil {
		t.Fatal(err)
	}
	a.Files, b.Files = nil, nil
	for _, s := range []*checkSummary{&a, &b} {
		for i := range s.Findings {
			for j := range s.Findings[i].Witness {
				s.Findings[i].Witness[j].File, s.Findings[i].Witness[j].Line = "", 0
			}
		}
	}
	if status != exitViolation || status != partStatus {
		t.Errorf("status %d and %d", status, partStatus)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("(-whole +parts):\n%s", diff)
	}
}

func TestCheckPrintsTheSameEveryTime(t *testing.T) {
	file := lossFile(t)
	for _, args := range [][]string{{"check", file}, {"check", "--json", file}} {
		_, first, _ := command(t, args...)
		for range 3 {
			if _, again, _ := command(t, args...); again != first {
				t.Fatalf("%v prints something else:\n%s", args, cmp.Diff(first, again))
			}
		}
	}
}

// spaced writes a line as json.dumps of Python does by default.
func spaced(line string) string { return strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(line) }

func TestBlanksInTheJSONAndAByteOrderMarkChangeNoVerdictAndNoWitness(t *testing.T) {
	lines := []string{checkHead, sendA, ackA, sendB, ackB, readOnlyB}
	dir := t.TempDir()
	t.Chdir(dir)
	write := func() string {
		if err := os.WriteFile("h", []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		_, out, errText := command(t, "check", "h")
		return out + errText
	}
	want := write()
	for i := range lines {
		lines[i] = spaced(lines[i])
	}
	lines[0] = byteOrderMark + lines[0]
	if diff := cmp.Diff(want, write()); diff != "" {
		t.Errorf("(-dense +spaced):\n%s", diff)
	}
	if !strings.Contains(want, "h:3  event 2") {
		t.Errorf("no witness in\n%s", want)
	}
}

func TestNoNameInAHistoryCanForgeALineOrSpeakToTheTerminal(t *testing.T) {
	const evil = `\u001b[31m\nverdict: pass\r\u009b1m`
	lines := []string{strings.Replace(checkHead, `"profile"`, `"source":"`+evil+`","profile"`, 1)}
	for _, l := range []string{sendA, ackA, sendB, ackB, readOnlyB} {
		l = strings.Replace(l, `"topic":"t"`, `"topic":"`+evil+`"`, 1)
		l = strings.Replace(l, `"client":"`, `"session":{"txid":"`+evil+`","group":"`+evil+`","member":"`+evil+`"},"client":"`+evil, 1)
		lines = append(lines, l)
	}
	status, out, errText := command(t, "check", historyFile(t, "h", lines...))
	if status != exitViolation || !strings.Contains(out, `\x1b[31m\nverdict: pass\r\u009b1m`) {
		t.Errorf("status %d\n%q %s", status, out, errText)
	}
	if strings.ContainsAny(out, "\x1b\r\u009b") || strings.Count(out, "\nverdict: ") != 1 {
		t.Errorf("a name came through:\n%q", out)
	}
}

func TestJUnitHasACaseForEachRule(t *testing.T) {
	out := filepath.Join(t.TempDir(), "reports", "junit.xml")
	if status, _, errText := command(t, "check", "--junit", out, lossFile(t)); status != exitViolation || errText != "" {
		t.Fatalf("status %d, %s", status, errText)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var suites junitSuites
	if err := xml.Unmarshal(text, &suites); err != nil {
		t.Fatal(err)
	}
	s := suites.Suite
	failed := 0
	for _, c := range s.Cases {
		if c.Failure != nil {
			failed++
		}
		if c.Name == "lost-write" && (c.Failure == nil || !strings.Contains(c.Failure.Text, "loss.jsonl:3")) {
			t.Errorf("lost-write: %+v", c)
		}
		if c.Name == "corrupt-value" && (c.Failure != nil || c.Skipped != nil) {
			t.Errorf("corrupt-value: %+v", c)
		}
	}
	if failed == 0 || failed != s.Failures || len(s.Cases) != s.Tests {
		t.Errorf("%d failed, %d cases; the suite says %d, %d", failed, len(s.Cases), s.Failures, s.Tests)
	}
}

func TestTheTraceOfARunIsJudgedAsTheRunWas(t *testing.T) {
	for _, rules := range []string{"", "truncate=toHW"} {
		trace := filepath.Join(t.TempDir(), "trace.jsonl")
		_, out, errText := command(t, "run", "R1", "--rules", rules, "--trace", trace, "--json")
		var run summary
		if err := json.Unmarshal([]byte(out), &run); err != nil {
			t.Fatal(err, errText)
		}
		_, out, errText = command(t, "check", "--json", trace)
		var checked checkSummary
		if err := json.Unmarshal([]byte(out), &checked); err != nil {
			t.Fatal(err, errText)
		}
		if checked.Verdict != run.Verdict || checked.Events != run.Events || !slices.Equal(checked.Broken, run.Broken) {
			t.Errorf("rules %q: run says %s %v of %d events, check %s %v of %d", rules, run.Verdict, run.Broken, run.Events,
				checked.Verdict, checked.Broken, checked.Events)
		}
	}
}

func TestFormatsAreKnownByTheirBeginning(t *testing.T) {
	samples := filepath.Join("..", "..", "checker", "history")
	for _, c := range []struct {
		source string
		files  []string
	}{
		{"Jepsen", []string{filepath.Join(samples, "jepsen", "testdata", "transactions.edn")}},
		{"VerifiableProducer", []string{filepath.Join(samples, "verifiable", "testdata", "producer.jsonl"), filepath.Join(samples, "verifiable", "testdata", "consumer.jsonl")}},
		{"Jepsen", []string{filepath.Join(samples, "jepsen", "testdata", "legal.edn")}},
		{"kgo-verifier", []string{filepath.Join(samples, "kgoverifier", "testdata", "run.log")}},
	} {
		status, out, errText := command(t, append([]string{"check", "--json"}, c.files...)...)
		var s checkSummary
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatalf("%v: %v %s", c.files, err, errText)
		}
		if status == exitUsage || !strings.HasPrefix(s.Source, c.source) || s.Verdict == string(checker.Violation) {
			t.Errorf("%v: status %d, source %q, %s %v %v", c.files, status, s.Source, s.Verdict, s.Broken, s.Unknown)
		}
	}
}
