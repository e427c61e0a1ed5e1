package jepsen_test

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
	"tidemark/checker/history/jepsen"
	"tidemark/model/event"
)

func read(file, text string) (history.Stream, error) {
	return jepsen.Read(file, strings.NewReader(text), jepsen.Options{})
}

func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if !jepsen.Looks(text[:min(len(text), 4096)]) && !strings.HasPrefix(string(text), ";") {
		t.Errorf("%s does not look like a Jepsen history", name)
	}
	return string(text)
}

func events(t *testing.T, text string) []event.Event {
	t.Helper()
	s, err := jepsen.Read("history.edn", strings.NewReader(text), jepsen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return importtest.All(t, s)
}

// told writes the client history, one line for each event.
func told(events []event.Event) []string {
	var out []string
	for _, e := range events {
		if e.Kind == event.Profile {
			continue
		}
		line := fmt.Sprintf("%s: %v %d", e.Client, e.Kind, e.Partition)
		if e.Kind == event.PollOK {
			line += fmt.Sprintf(" %d..%d", e.Offset, e.End)
			for _, r := range e.Records {
				line += fmt.Sprintf(" %d=%d", r.Offset, event.Ordinal(r.Attempt))
			}
		}
		if e.Kind == event.SendOK {
			line += fmt.Sprintf(" %d=%d", e.Offset, event.Ordinal(e.Attempt))
		}
		out = append(out, line)
	}
	return out
}

func TestLegalHistoryPasses(t *testing.T) {
	if r := checker.Check(events(t, file(t, "legal.edn"))); r.Verdict != checker.Pass {
		t.Errorf("%v %v %v", r.Verdict, r.Findings, r.Unknown)
	}
}

func TestAnomaliesThatJepsenNamesAreFound(t *testing.T) {
	legal := file(t, "legal.edn")
	for _, c := range []struct{ rule, old, new string }{
		{"lost-write", "[[:poll {0 [[0 1] [1 2]]}]]", "[[:poll {0 [[0 1]]}]]"},
		{"inconsistent-offsets", "[:send 0 [1 2]]", "[:send 0 [0 2]]"},
		{"nonmonotonic-poll", "[[:poll {0 [[2 3]]}]]", "[[:poll {0 [[1 2] [2 3]]}]]"},
		{"failed-write-visible", ":type :info, :process 1", ":type :fail, :process 1"},
		{"phantom", "[2 3]", "[2 4]"},
	} {
		text := strings.Replace(legal, c.old, c.new, 1)
		if text == legal {
			t.Fatalf("%s: the sample has changed", c.rule)
		}
		r := checker.Check(events(t, text))
		if !slices.Contains(append(r.Broken(), rulesOf(r.Notes)...), c.rule) {
			t.Errorf("%s: %v %v, notes %v", c.rule, r.Verdict, r.Broken(), r.Notes)
		}
	}
}

func rulesOf(notes []checker.Note) []string {
	var rules []string
	for _, n := range notes {
		rules = append(rules, n.Rule)
	}
	return rules
}

// Each anomaly that jepsen.tests.kafka can report, in a history of its own: our rule
// of that name speaks, or a note where Kafka never promised otherwise. What Elle
// calls -process and -realtime are the same circles with an edge of time in them.
func TestEveryAnomalyOfJepsenHasARuleThatFindsIt(t *testing.T) {
	named := map[string][]string{} // rules by Jepsen's name
	for _, p := range checker.Promises() {
		for name := range strings.SplitSeq(p.Jepsen, ", ") {
			named[name] = append(named[name], p.Rule)
		}
	}
	for _, c := range []struct{ name, history string }{
		{"duplicate", "0 send 0=1@0 | 1 poll 0:0=1,1=1"},
		{"inconsistent-offsets", "0 send 0=1@0 | 1 send 0=2@0"},
		{"lost-write", "0 send 0=1@0 | 0 send 0=2@1 | 0 send 0=3@2 | 1 poll 0:0=1,2=3"},
		{"unseen", "0 send 0=1@0 | 0 send 0=2@1 | 1 poll 0:0=1"},
		{"poll-skip", "0 send 0=1@0 | 0 send 0=2@1 | 0 send 0=3@2 | 2 poll 0:0=1,1=2,2=3 | 1 assign 0 | 1 poll 0:0=1 | 1 poll 0:2=3"},
		{"nonmonotonic-poll", "0 send 0=1@0 | 0 send 0=2@1 | 1 assign 0 | 1 poll 0:0=1,1=2 | 1 poll 0:1=2"},
		{"nonmonotonic-send", "0 send 0=1@1 | 0 send 0=2@0 | 1 poll 0:0=2,1=1"},
		{"int-poll-skip", "0 send 0=1@0 | 0 send 0=2@1 | 0 send 0=3@2 | 2 poll 0:0=1,1=2,2=3 | 1 txn poll 0:0=1 poll 0:2=3"},
		{"int-nonmonotonic-poll", "0 send 0=1@0 | 0 send 0=2@1 | 1 txn poll 0:0=1,1=2 poll 0:0=1"},
		{"int-nonmonotonic-send", "0 txn send 0=1@1 send 0=2@0 | 1 poll 0:0=2,1=1"},
		{"int-send-skip", "0+ txn send 0=1@0 send 0=3@2 | 1 send 0=2@1 | 0- | 2 poll 0:0=1,1=2,2=3"},
		{"precommitted-read", "0 txn send 0=1@0 poll 0:0=1"},
		{"G1a", "0 send 0=1! | 1 poll 0:0=1"},
		{"G0", "0+ txn send 0=1@0 send 1=2@1 | 1+ txn send 0=3@1 send 1=4@0 | 0- | 1- | 2 poll 0:0=1,1=3 1:0=4,1=2"},
		{"G0-realtime", "0 send 0=1@1 | 1 send 0=2@0"},
		{"G1c", "0+ txn send 0=1@0 poll 1:0=2 | 1+ txn send 1=2@0 poll 0:0=1 | 0- | 1-"},
		{"G1c-realtime", "0 poll 0:0=1 | 1 send 0=1@0"},
	} {
		r := checker.Check(events(t, short(c.history)))
		found := r.Broken()
		for _, n := range r.Notes {
			found = append(found, n.Rule)
		}
		for _, u := range r.Unknown {
			rule, _, _ := strings.Cut(u, ":")
			found = append(found, rule)
		}
		if !slices.ContainsFunc(named[c.name], func(rule string) bool { return slices.Contains(found, rule) }) {
			t.Errorf("%s: want one of %v, got %v: %v %v\n%s", c.name, named[c.name], found, r.Findings, r.Unknown, short(c.history))
		}
	}
}

// short writes a history out: operations one after the other, PROCESS VERB and its
// steps, KEY=VALUE@OFFSET or KEY:OFFSET=VALUE,... ; ! fails. N+ begins an operation
// of process N and N- ends it.
func short(text string) string {
	var b strings.Builder
	open := map[string]string{}
	at := 0
	write := func(kind, process, f, value string) {
		fmt.Fprintf(&b, "{:index %d, :time %d, :type :%s, :process %s, :f :%s, :value %s}\n", at, at*100, kind, process, f, value)
		at++
	}
	for op := range strings.SplitSeq(text, " | ") {
		w := strings.Fields(op)
		process := strings.TrimRight(w[0], "+-")
		if len(w) == 1 {
			write("ok", process, "txn", open[process])
			continue
		}
		f, steps := w[1], w[1:]
		if f == "txn" {
			steps = w[2:]
		}
		var asked, told []string
		kind := "ok"
		for i := 0; i < len(steps); i++ {
			switch steps[i] {
			case "assign":
				write("invoke", process, "assign", "["+steps[i+1]+"]")
				write("ok", process, "assign", "["+steps[i+1]+"]")
				i++
			case "send":
				i++
				key, rest, _ := strings.Cut(steps[i], "=")
				value, offset, acked := strings.Cut(rest, "@")
				value, failed := strings.CutSuffix(value, "!")
				if failed {
					kind = "fail"
				}
				asked = append(asked, fmt.Sprintf("[:send %s %s]", key, value))
				if acked {
					value = "[" + offset + " " + value + "]"
				}
				told = append(told, fmt.Sprintf("[:send %s %s]", key, value))
			case "poll":
				asked = append(asked, "[:poll]")
				var keys []string
				for i+1 < len(steps) && strings.Contains(steps[i+1], ":") {
					i++
					key, records, _ := strings.Cut(steps[i], ":")
					var pairs []string
					for r := range strings.SplitSeq(records, ",") {
						pairs = append(pairs, "["+strings.ReplaceAll(r, "=", " ")+"]")
					}
					keys = append(keys, key+" ["+strings.Join(pairs, " ")+"]")
				}
				told = append(told, "[:poll {"+strings.Join(keys, ", ")+"}]")
			}
		}
		if len(asked) == 0 {
			continue
		}
		write("invoke", process, f, "["+strings.Join(asked, " ")+"]")
		if open[process] = "[" + strings.Join(told, " ") + "]"; !strings.HasSuffix(w[0], "+") {
			write(kind, process, f, open[process])
		}
	}
	return b.String()
}

func TestTransactionsCarryTheirSessionAndEndAsTheyDid(t *testing.T) {
	got := told(events(t, file(t, "transactions.edn")))
	want := []string{
		"process 0: txn-begin 0", "process 0: send 0", "process 0: send 1", "process 0: txn-end 0",
		"process 0: send-ok 0 0=1", "process 0: send-ok 1 0=1", "process 0: txn-end-ok 0",
		"process 1: txn-begin 0", "process 1: send 0", "process 1: send 1", "process 1: txn-end 0",
		"process 1: send-fail 0", "process 1: send-fail 1", "process 1: txn-end-fail 0",
		"process 2: assigned 0", "process 2: assigned 1",
		"process 2: position-reset 0", "process 2: poll 0 0..1 0=1", "process 2: position-reset 1", "process 2: poll 1 0..1 0=1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAPollWhoseOffsetsFallBecomesSeveral(t *testing.T) {
	got := told(events(t, `{:type :invoke, :process 0, :f :poll, :value [[:poll]]}
{:type :ok, :process 0, :f :poll, :value [[:poll {3 [[5 1] [6 2] [5 1] [9 4]]}]]}`))
	want := []string{"process 0: position-reset 3", "process 0: poll 3 5..7 5=1 6=2", "process 0: poll 3 5..10 5=1 9=4"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFaultyHistoryIsToldWithFileLineAndField(t *testing.T) {
	importtest.Refused(t, "h.edn", read, map[string]string{
		"{:type :invoke":                    `h.edn:1: the text ends within a value`,
		"[1]":                               `h.edn:1: expected an operation, a map`,
		"\n{:process 0, :type 5, :f :poll}": `h.edn:2: field ":type": expected a keyword, found a whole number`,
		"{:process 0, :type :ok, :f :poll, :value [[:poll]]}":                                                                                        `h.edn:1: field ":type": expected an :invoke of :poll by process 0`,
		"{:process 0, :type :invoke, :f :send, :value [[:send :x 1]]}":                                                                               `h.edn:1: field ":value": expected a key`,
		"{:process 0, :type :invoke, :f :poll, :value [[:poll]]}\n{:process 0, :type :invoke, :f :poll, :value [[:poll]]}":                           `h.edn:2: field ":process": expected the end of what process 0 began in line 1`,
		"{:process 0, :type :invoke, :f :poll, :value [[:poll]]}\n{:process 0, :type :ok, :f :poll, :value [[:poll {0 [[9223372036854775807 1]]}]]}": `h.edn:2: field ":value": expected [offset value], found [9223372036854775807 1]`,
		"{:process 0, :type :invoke, :f :send, :value [[:send 0 1]]}\n{:process 0, :type :ok, :f :send, :value [[:send 0 [-7 1]]]}":                  `h.edn:2: field ":value": expected the offset that the send was given, 0 or more, found -7`,
		"{:process 0, :type :invoke, :f :poll, :value [[:poll]]}\n{:process 0, :type :ok, :f :poll, :value [[:poll {0 [5]}]]}":                       `h.edn:2: field ":value": expected [offset value], found 5`,
	})
}

func FuzzRead(f *testing.F) {
	importtest.Fuzz(f, read, "testdata/legal.edn", "testdata/transactions.edn")
}

func TestAHistoryIsKnownBehindCommentsAndBlanks(t *testing.T) {
	for begins, want := range map[string]bool{
		"; a comment\n{:index 0}":             true,
		";; one\n  ; another\n\n[{:index 0}]": true,
		" ,\n( ; inside\n { :index 0":         true,
		"#jepsen.history.Op{:index 0":         true,
		"; longer than what is looked at":     true,
		"; a comment\n{\"seq\":1}":            false,
		`{"tidemark_history":1}`:              false,
		"":                                    false,
		"\n":                                  false,
		"hello":                               false,
	} {
		if got := jepsen.Looks([]byte(begins)); got != want {
			t.Errorf("%q: %v, want %v", begins, got, want)
		}
	}
}
