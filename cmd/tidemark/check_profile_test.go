package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tidemark/model/kafka"
)

// headWith is a header whose profile has one setting.
func headWith(scope, key, value string) string {
	return fmt.Sprintf(`{"tidemark_history":1,"clock":"seq","profile":{%q:{%q:%q}}}`, scope, key, value)
}

func profileEvent(scope, text string) string {
	return fmt.Sprintf(`{"seq":6,"t_ns":6000000,"kind":"profile","client":%q,"text":%q}`, scope, text)
}

func TestSettingsThatAHistoryTellsWrongAreBadInputWithTheirPlace(t *testing.T) {
	for _, c := range []struct{ head, last, want string }{
		{headWith("cluster", "min.insync.replicas", "two"), "", `:1: field "profile": min.insync.replicas: two is not a valid value`},
		{headWith("producr a", "acks", "1"), "", `:1: field "profile": expected cluster, topic NAME, producer CLIENT or consumer CLIENT, found "producr a"`},
		{headWith("cluster", "min.insync.replica", "2"), "", `:1: field "profile": min.insync.replica: not a configuration key`},
		{checkHead, profileEvent("topic t", "cleanup.policy"), `:7: field "text": expected key=value`},
		{checkHead, profileEvent("topicx", "cleanup.policy=compact"), `:7: field "client": expected cluster, topic NAME`},
		{checkHead, profileEvent("topic t", "cleanup.policy=shrink"), `:7: field "text": cleanup.policy: shrink is not a valid value`},
	} {
		file := historyFile(t, "told.jsonl", c.head, sendA, ackA, sendB, ackB, readBoth, c.last)
		for _, args := range [][]string{{"check", file}, {"check", file, "--profile", "min.insync.replicas=2"}} {
			status, out, errText := command(t, args...)
			if status != exitUsage || out != "" || !strings.Contains(errText, "told.jsonl"+c.want) || strings.Count(errText, "\n") != 1 {
				t.Errorf("%v: status %d, stdout %q, stderr %q, want %q", args, status, out, errText, c.want)
			}
		}
	}
}

func TestKeysOfKafkasThatDecideNothingArePassedOver(t *testing.T) {
	file := historyFile(t, "told.jsonl", headWith("cluster", "group.share.max.groups", "10"), sendA, ackA, sendB, ackB, readBoth, profileEvent("consumer c", "client.rack=a"))
	if status, out, errText := command(t, "check", file); status != exitOK || errText != "" {
		t.Errorf("status %d, %s%s", status, out, errText)
	}
}

// A history that was recorded on an older Kafka is judged; what Kafka never had is a
// typo as before.
func TestKeysThatKafkaHadOnceAreNoReasonNotToJudge(t *testing.T) {
	lines := []string{sendA, ackA, sendB, ackB, readBoth}
	for _, key := range []string{"log.message.format.version", "zookeeper.connect", "inter.broker.protocol.version", "replica.lag.max.messages"} {
		file := historyFile(t, "old.jsonl", append([]string{headWith("cluster", key, "2.8")}, append(lines, profileEvent("cluster", key+"=2.8"))...)...)
		if status, out, errText := command(t, "check", file); status != exitOK || errText != "" {
			t.Errorf("%s: status %d, %s%s", key, status, out, errText)
		}
		status, out, errText := command(t, "check", file, "--profile", key+"=3.0")
		if want := "tidemark: --profile: ignored, not modelled: " + key + "\n"; status != exitOK || errText != want {
			t.Errorf("--profile %s: status %d, %sstderr %q, want %q", key, status, out, errText, want)
		}
		typo := strings.Replace(key, "e", "ee", 1)
		if status, _, errText := command(t, "check", file, "--profile", typo+"=3.0"); status != exitUsage || !strings.Contains(errText, typo) {
			t.Errorf("--profile %s: status %d, stderr %q", typo, status, errText)
		}
		file = historyFile(t, "typo.jsonl", append([]string{headWith("cluster", typo, "2.8")}, lines...)...)
		if status, _, errText := command(t, "check", file); status != exitUsage || !strings.Contains(errText, typo+": not a configuration key") {
			t.Errorf("%s: status %d, stderr %q", typo, status, errText)
		}
	}
}

// exampleHistory is the one that FORMAT.md shows.
func exampleHistory(t *testing.T) string {
	t.Helper()
	format, err := os.ReadFile("../../checker/history/FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(format), "```json\n")
	lines, _, found := strings.Cut(text, "```")
	if !found {
		t.Fatal("FORMAT.md shows no history")
	}
	return historyFile(t, "example.jsonl", strings.TrimSpace(lines))
}

// TestAHistoryIsAsWellFormedUnderEveryProfile: what --profile says of clients comes
// between the events of a history and is none of them.
func TestAHistoryIsAsWellFormedUnderEveryProfile(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	if status, _, errText := command(t, "run", "healthy", "--trace", trace); status != exitOK {
		t.Fatal(errText)
	}
	all := []string{"history.world=closed", "acks=0", "acks=1", "acks=all", "enable.idempotence=false", "isolation.level=read_committed",
		"topic.orders.cleanup.policy=compact"}
	for _, scope := range scopeNames {
		for _, d := range kafka.Definitions(keyScopes[scope]) {
			kv := d.Key + "=" + d.Default
			if scope != "broker" {
				kv = scope + "." + kv
			}
			all = append(all, kv)
		}
	}
	for file, profiles := range map[string][][]string{exampleHistory(t): each(all), trace: append(each(all[:7]), all[7:])} { // unordered: each alone
		events := judgedHistory(t, file).Events
		for _, profile := range profiles {
			s := judgedHistory(t, file, profile...)
			if s.Events > events || len(s.Unknown) > 0 { // fewer where a setting of its own is replaced
				t.Errorf("%s --profile %v: %d events, unknown %q, want %d at most and none", file, profile, s.Events, s.Unknown, events)
			}
		}
	}
}

func each(all []string) (alone [][]string) {
	for _, one := range all {
		alone = append(alone, []string{one})
	}
	return alone
}

// judgedHistory is what check --json says of a history.
func judgedHistory(t *testing.T, file string, profile ...string) (s checkSummary) {
	t.Helper()
	args := []string{"check", "--json", file}
	for _, p := range profile {
		args = append(args, "--profile", p)
	}
	_, out, errText := command(t, args...)
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatalf("%v: %v, %s", args, err, errText)
	}
	return s
}

// TestProfileNamesOneTopic: the poll leaves out the older of two records of one key.
func TestProfileNamesOneTopic(t *testing.T) {
	keyed := func(line string) string { return strings.ReplaceAll(line, `"hash"`, `"key":"5","hash"`) }
	file := historyFile(t, "h.jsonl", checkHead, keyed(sendA), keyed(ackA), keyed(sendB), keyed(ackB), keyed(readOnlyB))
	for profile, want := range map[string]int{
		"topic.t.cleanup.policy=compact":     exitOK,
		"topic.other.cleanup.policy=compact": exitViolation,
		"log.cleanup.policy=compact":         exitOK,
		"log.cleanup.policy=delete":          exitViolation,
	} { // unordered: each alone
		if status, out, errText := command(t, "check", file, "--profile", profile); status != want {
			t.Errorf("%s: status %d, want %d\n%s%s", profile, status, want, out, errText)
		}
	}
}
