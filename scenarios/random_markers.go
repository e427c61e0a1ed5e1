package scenarios

import (
	"time"

	"tidemark/model/kafka"
	"tidemark/model/plan"
)

// markerWindow is how long after a start the removal of the clean-shutdown marker
// may not be durable: until the first write of the high-watermark checkpoint has
// synced the directory, 5 s after the logs were loaded, with room for a start that
// waits.
const markerWindow = 20 * time.Second

// spareMarkers turns a power loss soon after a clean restart into a kill. It could
// bring the clean-shutdown marker back and have recovery skipped over a torn log:
// Kafka's own hole, which the story D8 shows, and which no rule that a sweep
// judges by would survive.
func (g *generator) spareMarkers() {
	stopped := map[kafka.BrokerID]bool{}
	restarted := map[kafka.BrokerID]time.Duration{}
	for i := range g.p.Steps {
		s := &g.p.Steps[i]
		at, was := restarted[s.Node]
		soon := was && s.At < at+markerWindow
		switch s.Verb {
		case plan.VerbStop:
			stopped[s.Node] = true
		case plan.VerbStart:
			if stopped[s.Node] {
				restarted[s.Node], stopped[s.Node] = s.At, false
			}
		case plan.VerbPower:
			if soon && s.Lose != "none" {
				s.Verb, s.Lose = plan.VerbKill, ""
			}
		case plan.VerbCrash:
			if soon {
				s.Kind = "kill"
			}
		}
	}
}
