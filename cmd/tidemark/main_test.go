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

	"tidemark/model/kafka"
	"tidemark/model/plan"
	"tidemark/model/rules"
	"tidemark/scenarios"
)

// command runs a command line as the shell would.
func command(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	status = execute(args, &out, &err)
	return status, out.String(), err.String()
}

// variants are the command lines of a story, one for each verdict that it
// declares.
func variants(s scenarios.Story) map[string][]string {
	all := map[string][]string{}
	for _, e := range s.Plan.Expect {
		args := []string{"run", s.ID}
		if e.Rules != "" {
			args = append(args, "--rules", e.Rules)
		}
		for _, kv := range plan.SplitSettings(e.With) {
			args = append(args, "--set", kv.Key+"="+kv.Value)
		}
		all[plan.Variant(e.Rules, e.With)] = args
	}
	return all
}

func TestStoryPrintsItsGoldenOutputInEachOfItsVariants(t *testing.T) {
	for _, s := range scenarios.Stories() {
		for variant, args := range variants(s) {
			status, out, errText := command(t, args...)
			if status != exitOK {
				t.Errorf("%v: exit status %d: %s", args, status, errText)
			}
			golden, ok := s.Plan.Golden[variant]
			if !ok {
				t.Errorf("%v: the story has no golden output for this variant: make golden", args)
			}
			if diff := cmp.Diff(golden, out); diff != "" {
				t.Errorf("%v prints something else (-golden +printed), make golden rewrites:\n%s", args, diff)
			}
			if n := strings.Count(out, "\n"); n > 40 {
				t.Errorf("%v prints %d lines, a reader follows 40", args, n)
			}
		}
		if len(s.Plan.Golden) != len(s.Plan.Expect) {
			t.Errorf("%s declares %d verdicts and has %d sections of golden output", s.ID, len(s.Plan.Expect), len(s.Plan.Golden))
		}
	}
}

func TestStoriesHoldWithThreeDataLanes(t *testing.T) {
	for _, s := range scenarios.Stories() {
		for _, args := range variants(s) {
			status, _, errText := command(t, append(args, "--lanes", "3")...)
			if status != exitOK {
				t.Errorf("%v with three data lanes: exit status %d: %s", args, status, errText)
			}
		}
	}
}

func TestAllRunsEveryVariantOfEveryStory(t *testing.T) {
	status, out, errText := command(t, "run", "all")
	n := 0
	for _, s := range scenarios.Stories() {
		n += len(s.Plan.Expect)
	}
	if status != exitOK || strings.Count(out, ", as declared\n") != n {
		t.Errorf("exit status %d, want %d stories as declared\n%s%s", status, n, out, errText)
	}
}

func TestDeclarationHoldsOnlyForTheSettingsThatItNames(t *testing.T) {
	status, out, errText := command(t, "run", "R1", "--rules", "truncate=toHW", "--set", "broker.session.timeout.ms=8000")
	if status != exitViolation || !strings.Contains(out, "verdict: violation") {
		t.Errorf("a setting that R1 does not declare: exit status %d\n%s%s", status, out, errText)
	}
}

// judged runs a story that must end as it declares.
func judged(t *testing.T, args ...string) summary {
	t.Helper()
	status, out, errText := command(t, append(args, "--json")...)
	var s summary
	if err := json.Unmarshal([]byte(out), &s); err != nil || status != exitOK {
		t.Fatalf("%v: exit status %d, %v: %s", args, status, err, errText)
	}
	return s
}

func contains(notes []string, words string) bool {
	return slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, words) })
}

func TestE1LosesWithAcksOneWhichWasNeverPromisedAndKeepsWithAcksAll(t *testing.T) {
	if s := judged(t, "run", "E1"); !contains(s.Notes, "acks=1 is gone") || !contains(s.Notes, "never promised") {
		t.Errorf("acks=1: notes %q", s.Notes)
	}
	if s := judged(t, "run", "E1", "--set", "acks=all"); contains(s.Notes, "gone") {
		t.Errorf("acks=all: notes %q", s.Notes)
	}
}

func TestE2LosesWithOneReplicaInSyncAndRefusesWithTwo(t *testing.T) {
	if s := judged(t, "run", "E2"); !lost(s, "1 replica lost it with the disk, and min.insync.replicas is 1") {
		t.Errorf("min.insync.replicas=1: %+v", s.Findings)
	}
	if _, out, _ := command(t, "run", "E2", "--set", "min.insync.replicas=2"); !strings.Contains(out, "NOT_ENOUGH_REPLICAS") {
		t.Errorf("min.insync.replicas=2: nothing is refused:\n%s", out)
	}
}

func TestE3LosesWithAnUncleanElectionAndIsUnavailableWithout(t *testing.T) {
	if s := judged(t, "run", "E3"); !lost(s, "unclean election of broker 2") {
		t.Errorf("unclean: %+v", s.Findings)
	}
	_, out, _ := command(t, "run", "E3", "--set", "unclean.leader.election.enable=false")
	if !strings.Contains(out, "leaves t-0 without a leader") {
		t.Errorf("clean: the partition always has a leader:\n%s", out)
	}
}

func TestE5IsExcusedAndKeepsEverythingThatIsSynced(t *testing.T) {
	for _, args := range [][]string{{"run", "E5"}, {"run", "E5", "--set", "min.insync.replicas=3"}} {
		if s := judged(t, args...); !lost(s, "3 replicas lost it with the disk") {
			t.Errorf("%v: %+v", args, s.Findings)
		}
	}
	if s := judged(t, "run", "E5", "--set", "log.flush.interval.messages=1"); len(s.Findings) > 0 {
		t.Errorf("synced: %+v", s.Findings)
	}
}

// lost reports whether a run lost a record and names the premise that excuses it,
// in those words if there are any.
func lost(s summary, premise string) bool {
	return slices.ContainsFunc(s.Findings, func(f summaryFinding) bool {
		return f.Rule == "lost-write" && f.Verdict == "excused" && strings.Contains(f.Premise, premise)
	})
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
		"frobnicate 1":        `my.txt:13: "frobnicate" is not a verb`,
		"kill 7":              "my.txt:13: there is no node 7",
		"cut c <-> p":         "my.txt:13: there is no link between c and p",
		"set acks=all":        "my.txt:13: acks: not a broker configuration key",
		"expect violation x":  `my.txt:13: "x" is no check: tidemark checks lists them`,
		"expect pass under x": "my.txt:13: ",
		"rules 1 x=y":         "my.txt:13: ",
		"wait hw 1 orders-0":  "my.txt:13: the comparison",
	} {
		status, out, errText := command(t, "run", writeScenario(t, myScenario+line+"\n"))
		if status != exitUsage || out != "" || strings.Count(errText, "\n") != 1 || !strings.Contains(errText, want) {
			t.Errorf("%q: exit status %d, stdout %q, stderr %q; want one line with %q", line, status, out, errText, want)
		}
	}
}

func TestWaitThatNeverHoldsIsUnknownAndNamesItsFileAndLine(t *testing.T) {
	name := writeScenario(t, myScenario+"wait hw 1 orders-0 >= 99 within 5s\n")
	status, out, errText := command(t, "run", name)
	want := "my.txt:13: wait hw 1 orders-0 >= 99 within 5s: its time ran out"
	if status != exitUnknown || strings.Count(errText, "\n") != 1 || !strings.Contains(errText, want) {
		t.Fatalf("exit status %d, stderr %q, want one line with %q\n%s", status, errText, want, out)
	}
}

func TestBadCommandLineIsOneLineAndExitStatus2(t *testing.T) {
	for _, args := range [][]string{
		{"run"}, {"run", "no-such-story"}, {"run", "R1", "healthy"}, {"run", "R1", "--rules", "truncate=maybe"},
		{"run", "R1", "--set", "nonsense"}, {"run", "R1", "--set", "min.insync.replicas=0"}, {"run", "R1", "--lanes", "9"},
		{"run", "R1", "--seed", "x"}, {"run", "R1", "--no-such-flag"}, {"frobnicate"}, {"bench", "moon"}, {"run", "R1", "--print", "--json"}, {"digest", "--seeds", "9..1"},
		{"run", t.TempDir()}, {"run", "all", "--rules", "truncate=toHW"},
		{"run", "R1", "--partition", "t-0"}, {"run", "R1", "--plot", filepath.Join(t.TempDir(), "x"), "--partition", "t"},
		{"run", "R1", "--plot", filepath.Join(t.TempDir(), "x"), "--partition", "t-7"}, {"run", "seed-7", "--seed", "9"},
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
	status, _, said := command(t, "run", "R1", "--plot", prefix, "--trace", trace)
	if status != exitOK {
		t.Fatalf("exit status %d: %s", status, said)
	}
	if want := "tidemark: the timeline is in " + prefix + ".svg and " + prefix + ".png\n"; said != want {
		t.Errorf("said %q, want %q", said, want)
	}
	for name, begin := range map[string]string{prefix + ".svg": "<?xml", prefix + ".png": "\x89PNG", trace: "{"} {
		content, err := os.ReadFile(name)
		if err != nil || !strings.HasPrefix(string(content), begin) {
			t.Errorf("%s: %v, begins %.20q", name, err, content)
		}
	}
}

func TestPlotTakesTheNameOfEitherOfItsFiles(t *testing.T) {
	for _, ending := range []string{"", ".svg", ".png"} {
		dir := t.TempDir()
		if status, _, errText := command(t, "run", "R1", "--plot", filepath.Join(dir, "r1"+ending)); status != exitOK {
			t.Fatalf("exit status %d: %s", status, errText)
		}
		files, err := filepath.Glob(dir + "/*")
		if want := []string{filepath.Join(dir, "r1.png"), filepath.Join(dir, "r1.svg")}; err != nil || !slices.Equal(files, want) {
			t.Errorf("--plot r1%s wrote %v, want %v", ending, files, want)
		}
	}
}

func TestASeedThatAPlanHasAlreadyMayBeSaidAgain(t *testing.T) {
	_, want, _ := command(t, "run", "seed-7")
	if status, got, errText := command(t, "run", "seed-7", "--seed", "7"); status != exitOK || got != want {
		t.Errorf("exit status %d: %s%s, want\n%s", status, errText, got, want)
	}
}

func TestPlotShowsThePartitionThatIsAskedFor(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "seed-7")
	if status, _, errText := command(t, "run", "seed-7", "--plot", prefix, "--partition", "t-2"); status != exitOK {
		t.Fatalf("exit status %d: %s", status, errText)
	}
	svg, err := os.ReadFile(prefix + ".svg")
	for _, want := range []string{"t-2, 1 of 4 partitions", "to see another partition: --partition t-0, t-1, u-0"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the picture (%v) does not say %q", err, want)
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

func TestChecksAndKeysAreListed(t *testing.T) {
	for args, want := range map[string]string{"checks": "lost-write", "keys topic": "min.insync.replicas", "keys producer": "linger.ms",
		"keys": "Of a consumer\n"} {
		if status, out, errText := command(t, strings.Fields(args)...); status != exitOK || !strings.Contains(out, want) {
			t.Errorf("%s: exit status %d, %s, lacks %s:\n%s", args, status, errText, want, out)
		}
	}
	_, all, _ := command(t, "keys")
	for _, scope := range scopeNames {
		for _, d := range kafka.Definitions(keyScopes[scope]) {
			if !strings.Contains(all, "  "+d.Key+" ") {
				t.Errorf("keys lacks %s of a %s", d.Key, scope)
			}
		}
	}
	if status, _, errText := command(t, "keys", "moon"); status != exitUsage || strings.Count(errText, "\n") != 1 {
		t.Errorf("keys moon: exit status %d: %s", status, errText)
	}
}

func TestDeclaredViolationSaysSo(t *testing.T) {
	if _, out, _ := command(t, "run", "R1", "--rules", "truncate=toHW"); !strings.Contains(out, "verdict: violation, as R1 declares for truncate=toHW") {
		t.Errorf("the demo's violation looks like a surprise:\n%s", out)
	}
}

func TestEveryStoryThatAVariantNamesIsInTheCatalogueAndDeclaresIt(t *testing.T) {
	for _, v := range rules.Variants() {
		for _, id := range strings.Split(v.Stories, ", ") {
			s, ok := scenarios.Find(id)
			if !ok {
				t.Errorf("%s is broken by the story %s, which does not exist", v.Name(), id)
				continue
			}
			if _, declared := s.Plan.Expected(v.Name(), ""); !declared {
				t.Errorf("the story %s declares no verdict under %s", id, v.Name())
			}
		}
	}
}
