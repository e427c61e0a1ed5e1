package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tidemark/scenarios"
)

// command runs a command line as the shell would.
func command(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = execute(args, &out, &err)
	return status, out.String(), err.String()
}

func TestStoryPrintsItsGoldenOutputUnderEachOfItsRules(t *testing.T) {
	for _, s := range scenarios.Stories() {
		for _, e := range s.Plan.Expect {
			args := []string{"run", s.ID}
			if e.Rules != "" {
				args = append(args, "--rules", e.Rules)
			}
			status, out, errText := command(t, args...)
			if status != exitOK {
				t.Errorf("%v: exit status %d: %s", args, status, errText)
			}
			golden, ok := s.Plan.Golden[e.Rules]
			if !ok {
				t.Errorf("%v: the story has no golden output for these rules: make golden", args)
			}
			if diff := cmp.Diff(golden, out); diff != "" {
				t.Errorf("%v prints something else (-golden +printed), make golden rewrites:\n%s", args, diff)
			}
			if n := strings.Count(out, "\n"); n > 40 {
				t.Errorf("%v prints %d lines, a reader follows 40", args, n)
			}
		}
	}
}

func TestStoriesHoldWithThreeDataLanes(t *testing.T) {
	for _, s := range scenarios.Stories() {
		for _, e := range s.Plan.Expect {
			status, _, errText := command(t, "run", s.ID, "--lanes", "3", "--rules", e.Rules)
			if status != exitOK {
				t.Errorf("%s under %q with three data lanes: exit status %d: %s", s.ID, e.Rules, status, errText)
			}
		}
	}
}

func TestR1UnderTheOldRuleFindsTheLossByItself(t *testing.T) {
	status, out, _ := command(t, "run", "R1", "--rules", "truncate=toHW", "--json")
	var s summary
	if err := json.Unmarshal([]byte(out), &s); err != nil || status != exitOK {
		t.Fatalf("exit status %d, %v:\n%s", status, err, out)
	}
	for _, rule := range []string{"LogMatching", "lost-write"} {
		if s.Verdict != "violation" || !slices.Contains(s.Broken, rule) {
			t.Fatalf("verdict %s, broken rules %v: %s is not among them", s.Verdict, s.Broken, rule)
		}
	}
	for _, f := range s.Findings {
		if f.Rule == "lost-write" && (f.Acked == 0 || f.Lost <= f.Acked || f.Offset != 1 || f.Client != "p") {
			t.Errorf("the lost record is not the one acknowledged at offset 1: %+v", f)
		}
	}
}

// myScenario is what a newcomer writes from the help text.
const myScenario = `# A leader dies.
topic orders assignment=1,2,3 min.insync.replicas=2
producer p acks=all
consumer c
send p orders hello
wait hw 1 orders-0 >= 1 within 10s
cut 2 <-> 3
kill 1
wait leader orders-0 = 2 within 30s
heal
read c orders from earliest
wait position c orders-0 >= 1 within 10s
`

func writeScenario(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "my.txt")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestScenarioFileOfAUserRuns(t *testing.T) {
	status, out, errText := command(t, "run", writeScenario(t, myScenario))
	if status != exitOK || !strings.Contains(out, "pass") {
		t.Fatalf("exit status %d\n%s%s", status, out, errText)
	}
}

func TestFaultOfAScenarioFileIsOneLineWithFileAndNumberAndExitStatus2(t *testing.T) {
	for line, want := range map[string]string{
		"frobnicate 1":       `my.txt:13: "frobnicate" is not a verb`,
		"kill 7":             "my.txt:13: there is no node 7",
		"cut c <-> p":        "my.txt:13: there is no link between c and p",
		"set acks=all":       "my.txt:13: acks: not a broker configuration key",
		"wait hw 1 orders-0": "my.txt:13: the comparison",
	} {
		status, out, errText := command(t, "run", writeScenario(t, myScenario+line+"\n"))
		if status != exitUsage || out != "" || strings.Count(errText, "\n") != 1 || !strings.Contains(errText, want) {
			t.Errorf("%q: exit status %d, stdout %q, stderr %q; want one line with %q", line, status, out, errText, want)
		}
	}
}

func TestWaitThatNeverHoldsIsUnknownAndNamesItsLine(t *testing.T) {
	name := writeScenario(t, myScenario+"wait hw 1 orders-0 >= 99 within 5s\n")
	status, out, errText := command(t, "run", name)
	if status != exitUnknown || !strings.Contains(out+errText, "line 13") {
		t.Fatalf("exit status %d\n%s%s", status, out, errText)
	}
}

func TestBadCommandLineIsOneLineAndExitStatus2(t *testing.T) {
	for _, args := range [][]string{
		{"run"}, {"run", "no-such-story"}, {"run", "R1", "healthy"}, {"run", "R1", "--rules", "truncate=maybe"},
		{"run", "R1", "--set", "nonsense"}, {"run", "R1", "--set", "min.insync.replicas=0"}, {"run", "R1", "--lanes", "9"},
		{"run", "R1", "--seed", "x"}, {"run", "R1", "--no-such-flag"}, {"frobnicate"}, {"digest", "--seeds", "9..1"},
		{"run", t.TempDir()},
	} {
		status, out, errText := command(t, args...)
		if status != exitUsage || out != "" || strings.Count(errText, "\n") != 1 {
			t.Errorf("%v: exit status %d, stdout %q, stderr %q; want one line", args, status, out, errText)
		}
	}
}

func TestPlotAndTraceAreWrittenIntoAFolderThatIsMadeForThem(t *testing.T) {
	dir := t.TempDir()
	prefix, trace := filepath.Join(dir, "new", "r1"), filepath.Join(dir, "other", "trace.jsonl")
	if status, _, errText := command(t, "run", "R1", "--plot", prefix, "--trace", trace); status != exitOK {
		t.Fatalf("exit status %d: %s", status, errText)
	}
	for name, begin := range map[string]string{prefix + ".svg": "<?xml", prefix + ".png": "\x89PNG", trace: "{"} {
		content, err := os.ReadFile(name)
		if err != nil || !strings.HasPrefix(string(content), begin) {
			t.Errorf("%s: %v, begins %.20q", name, err, content)
		}
	}
}

func TestListAndRulesNameEveryStoryAndVariant(t *testing.T) {
	_, stories, _ := command(t, "list")
	for _, s := range scenarios.Stories() {
		if !strings.Contains(stories, s.ID) || !strings.Contains(stories, s.Title) {
			t.Errorf("list lacks %s:\n%s", s.ID, stories)
		}
	}
	if _, out, _ := command(t, "rules"); !strings.Contains(out, "truncate=toHW") {
		t.Errorf("rules lacks truncate=toHW:\n%s", out)
	}
	for _, args := range [][]string{{"list", "--json"}, {"rules", "--json"}} {
		_, out, _ := command(t, args...)
		if !json.Valid([]byte(out)) {
			t.Errorf("%v prints no JSON: %s", args, out)
		}
	}
}
