package kgohistory

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"tidemark/checker/history"
	"tidemark/model/event"
)

// A kgo.GroupTransactSession tells of one revocation between two Ends, so the second
// assignment of a partition may come without a word in between.
func TestAPartitionThatIsAssignedAnewWasLostInBetween(t *testing.T) {
	for name, moves := range map[string][]event.Kind{ // unordered: each for itself
		"assigned lost assigned":                  {event.Assigned, event.Assigned},
		"assigned revoked assigned":               {event.Assigned, event.Revoked, event.Assigned},
		"assigned revoked assigned lost assigned": {event.Assigned, event.Revoked, event.Assigned, event.Assigned},
	} {
		var file bytes.Buffer
		rec := New(&file, history.Header{Source: "a test"})
		c, err := rec.NewClient("c", kgo.SeedBrokers("127.0.0.1:1"))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range moves {
			c.moved(k)(context.Background(), c.Client, map[string][]int32{"t": {0}})
		}
		c.Close()
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		var told []string
		for line := range strings.Lines(file.String()) {
			if e, err := event.ParseJSON([]byte(line)); err == nil && slices.Contains([]event.Kind{event.Assigned, event.Revoked, event.Lost}, e.Kind) {
				told = append(told, e.Kind.String())
			}
		}
		if got := strings.Join(told, " "); got != name {
			t.Errorf("%v: recorded %s, want %s", moves, got, name)
		}
	}
}
