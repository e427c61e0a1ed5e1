package checker

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"tidemark/model/event"
)

// A sound history told by coarse clocks, where many events share an instant and what two
// clients did within one is written in any order; or by clocks each of which is wrong.
func TestSoundHistoriesOfBadClocksRaiseNoAlarm(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 11))
	for seed := range uint64(60) {
		for name, world := range map[string][]event.Event{ // unordered: each for itself
			"transactions": runTxnWorld(seed, 600, ""), "log": runLogWorld(seed, 600),
		} {
			for clock, events := range map[string][]event.Event{ // unordered: each for itself
				"coarse": coarse(slices.Clone(world), 2+rnd.IntN(40), rnd), "wrong": wrong(world, 1+rnd.Int64N(30_000_000), rnd),
			} {
				if r := Check(events); len(r.Findings) > 0 {
					t.Fatalf("%s, %s, seed %d: %s: %s\n%s", name, clock, seed, r.Findings[0].Rule, r.Findings[0].Text, tellEvents(events))
				}
			}
		}
	}
}

// coarse gives up to n events in a row one time by a clock, and mixes those of different
// clients. What is told of the cluster keeps its place.
func coarse(events []event.Event, n int, rnd *rand.Rand) []event.Event {
	byTime := event.New(event.Profile)
	byTime.Text = clockSetting + "=time"
	out := append([]event.Event{byTime}, events...)
	for from := 1; from < len(out); {
		end := from
		for end < len(out) && end < from+n && (out[end].Client != "" && out[end].Kind != event.Profile || end == from) {
			end++
		}
		mix(out[from:end], rnd)
		from = end
	}
	return renumbered(out)
}

// renumbered counts the events anew, but for those without a number.
func renumbered(events []event.Event) []event.Event {
	seq := uint64(0)
	for i := range events {
		if events[i].Seq > 0 {
			seq++
			events[i].Seq = seq
		}
	}
	return events
}

// wrong tells each client's events by a clock of its own, which goes wrong by up to err, ns,
// and puts all in the order of their times.
func wrong(events []event.Event, err int64, rnd *rand.Rand) []event.Event {
	byTime := event.New(event.Profile)
	byTime.Text = clockSetting + "=time"
	out := append([]event.Event{byTime}, events...)
	by := map[string]int64{}
	for i := range out {
		e := &out[i]
		if e.Kind == event.Profile || e.Seq == 0 {
			continue
		}
		off, known := by[e.Client]
		if !known {
			off = rnd.Int64N(2*err+1) - err
			by[e.Client] = off
		}
		e.At, e.ClockErr = e.At+err+off, err
	}
	slices.SortStableFunc(out, func(a, b event.Event) int { return cmp.Compare(a.At, b.At) })
	return renumbered(out)
}

// mix gives events one time and puts them in another order, in which each client's own
// keep theirs.
func mix(events []event.Event, rnd *rand.Rand) {
	byClient := map[string][]event.Event{}
	turns := make([]string, len(events))
	for i, e := range events {
		e.At = events[0].At
		byClient[e.Client], turns[i] = append(byClient[e.Client], e), e.Client
	}
	rnd.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
	for i, client := range turns {
		events[i], byClient[client] = byClient[client][0], byClient[client][1:]
	}
}
