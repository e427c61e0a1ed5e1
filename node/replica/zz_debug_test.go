package replica

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"tidemark/model/rules"
)

func TestZZ(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newChaos(t, rules.Current(), func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
		var lines []string
		ev := 0
		for i := range chaosSteps {
			st := fmt.Sprintf("step %d now %v state %+v down %v md %v props %d ans %d", i, c.now, c.state, c.down, c.metadata, len(c.proposals), len(c.answers))
			err := c.step()
			lines = append(lines, st)
			for ; ev < len(c.events); ev++ {
				e := c.events[ev]
				lines = append(lines, fmt.Sprintf("   %v n%d ep%d pe%d off%d end%d hw%d isr%v peer%d %s", e.Kind, e.Node, e.Epoch, e.PartitionEpoch, e.Offset, e.End, e.HighWatermark, e.ISR, e.Peer, e.Text))
			}
			if err != nil {
				for _, l := range lines {
					t.Log(l)
				}
				t.Fatal(err)
			}
		}
	})
}
