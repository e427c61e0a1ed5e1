package main

import (
	"fmt"
	"strings"
	"testing"
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
