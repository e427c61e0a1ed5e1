package checker_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tidemark/checker"
	"tidemark/model/event"
)

// Where only clocks order the events and all of them share one instant, nobody knows
// what came first of what two clients did. So a rule that such a history breaks it
// breaks, or leaves open, whatever order its clients' events are written in, as long as
// each client's own keep theirs.
func TestOrderOfClientsWithinOneInstantConvictsNobody(t *testing.T) {
	const orders = 40
	rnd := rand.New(rand.NewPCG(11, 29))
	for _, c := range readCases(t) {
		if slices.ContainsFunc(c.events, ofTheCluster) || withinOneInstant[c.name] != "" || strings.HasPrefix(c.name, "malformed") {
			continue
		}
		events := atOneInstant(c.events)
		var reports []checker.Report
		broken := map[string]int{} // by rule, an order that breaks it
		for i := range orders {
			r := checker.Check(events)
			for _, rule := range r.Broken() {
				broken[rule] = i
			}
			reports, events = append(reports, r), shuffled(events, rnd)
		}
		for _, rule := range slices.Sorted(maps.Keys(broken)) {
			if acquits := slices.IndexFunc(reports, func(r checker.Report) bool { return !convicts(r, rule) && !leavesOpen(r, rule) }); acquits >= 0 {
				t.Errorf("%s: %s is broken in one order, and not in another:%s", c.name, rule, explain(reports[broken[rule]]))
			}
		}
	}
}

func convicts(r checker.Report, rule string) bool { return slices.Contains(r.Broken(), rule) }

func leavesOpen(r checker.Report, rule string) bool {
	return slices.ContainsFunc(r.Found, func(k *checker.Found) bool { return k.Rule == rule && k.Unknown > 0 })
}

// withinOneInstant are cases to which it does not apply.
var withinOneInstant = map[string]string{
	"double-processing-of-a-removed-group.twin":      "as without it",
	"double-processing-of-a-removed-group":           "an epoch falls, and rises if the other client comes first: no group is removed and made within an instant",
	"sent-at-the-instant-of-an-acknowledgement.twin": "where the poll comes before the send, read-from-future leaves open what it shows",
}

// ofTheCluster reports whether an event is of no client.
func ofTheCluster(e event.Event) bool { return e.Client == "" && e.Kind != event.Profile }

// atOneInstant gives all events of a history one time by a clock.
func atOneInstant(events []event.Event) []event.Event {
	byTime := event.New(event.Profile)
	byTime.Text = "history.clock=time"
	events = append([]event.Event{byTime}, events...)
	for i := range events {
		events[i].At, events[i].ClockErr = 1_000_000_000, 0
	}
	return events
}

// shuffled puts the events of clients in another order, in which each client's own
// keep theirs.
func shuffled(events []event.Event, rnd *rand.Rand) []event.Event {
	byClient := map[string][]event.Event{}
	var turns []string
	var out []event.Event
	for _, e := range events {
		if e.Kind == event.Profile {
			out = append(out, e)
			continue
		}
		byClient[e.Client], turns = append(byClient[e.Client], e), append(turns, e.Client)
	}
	rnd.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
	for i, client := range turns {
		e := byClient[client][0]
		byClient[client], e.Seq = byClient[client][1:], uint64(i+1)
		out = append(out, e)
	}
	return out
}
