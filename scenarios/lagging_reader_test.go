package scenarios

import (
	"testing"
	"time"

	"tidemark/model/event"
	"tidemark/model/plan"
)

// TestLaggingReaderOfAColdBacklogDoublesAcknowledgementsThatWaitForTheDisk takes
// the story at its word, number by number.
func TestLaggingReaderOfAColdBacklogDoublesAcknowledgementsThatWaitForTheDisk(t *testing.T) {
	story, ok := Find("lagging-reader")
	if !ok {
		t.Fatal("there is no such story")
	}
	for _, c := range []struct {
		name, set  string
		warm, cold [2]time.Duration // bounds of the mean time between two acknowledgements
	}{
		{"synced", "", [2]time.Duration{1200 * time.Microsecond, 1400 * time.Microsecond}, [2]time.Duration{2600 * time.Microsecond, 3200 * time.Microsecond}},
		{"not synced", "log.flush.interval.messages=9223372036854775807",
			[2]time.Duration{700 * time.Microsecond, 900 * time.Microsecond}, [2]time.Duration{700 * time.Microsecond, 900 * time.Microsecond}},
	} {
		g := Given{Set: plan.SplitSettings(c.set)}
		r, err := Run(g.On(story.Plan), Options{Seed: 1})
		if err != nil || r.Failed != nil {
			t.Fatal(err, r.Failed)
		}
		acked := r.moments("p", event.SendOK)
		if len(acked) != 60 {
			t.Fatalf("%s: %d acknowledgements", c.name, len(acked))
		}
		for phase, want := range [][2]time.Duration{c.warm, c.cold} {
			part := acked[30*phase:][:30]
			if mean := (part[29] - part[0]) / 29; mean < want[0] || mean > want[1] {
				t.Errorf("%s, phase %d: an acknowledgement takes %v, want %v", c.name, phase+1, mean, want)
			}
		}
	}
}

// moments are the instants of a client's events of a kind.
func (r *Result) moments(client string, k event.Kind) (at []time.Duration) {
	for i := range r.Events {
		if e := &r.Events[i]; e.Kind == k && e.Client == client {
			at = append(at, time.Duration(e.At))
		}
	}
	return at
}
