package checker_test

import (
	"strings"
	"testing"

	"tidemark/checker"
	"tidemark/model/event"
)

// Who answers for another send than was made proves nothing of it.
func TestTheEndOfASendNamesThatSend(t *testing.T) {
	for name, strays := range map[string]func(e *event.Event){ // unordered: each is a test of its own
		"another partition":       func(e *event.Event) { e.Partition = 1 },
		"no partition":            func(e *event.Event) { e.Partition = -1 },
		"another topic":           func(e *event.Event) { e.Topic = "y" },
		"another client":          func(e *event.Event) { e.Client = "B" },
		"another value":           func(e *event.Event) { e.Hash = 2 },
		"its own, so it is right": nil,
	} {
		t.Run(name, func(t *testing.T) {
			sent := event.New(event.SendInvoke)
			sent.Seq, sent.At, sent.Client, sent.Topic, sent.Partition, sent.Attempt, sent.Hash, sent.Acks = 1, 1, "A", "x", 0, 1, 1, -1
			told := sent
			told.Kind, told.Seq, told.At, told.Offset = event.SendOK, 2, 2, 0
			if strays != nil {
				strays(&told)
			}
			r := checker.Check([]event.Event{sent, told})
			refused := strings.Contains(strings.Join(r.Unknown, "\n"), "malformed: event 2 ends attempt")
			if refused != (strays != nil) || r.Verdict == checker.Violation {
				t.Errorf("refused: %v, verdict %v: %q", refused, r.Verdict, r.Unknown)
			}
		})
	}
}
