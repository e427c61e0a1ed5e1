package sim

import (
	"testing"

	"pgregory.net/rapid"
)

// Whatever is pushed, popped and swept, entries leave by instant and then by the
// order of their making.
func TestQueueIsOrderedByInstantThenByMaking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var last entry
		seq := uint64(0)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				odd := func(e *entry) bool { return e.x%2 == 1 }
				want := 0
				for i := range q.heap {
					if odd(&q.heap[i]) {
						want++
					}
				}
				if q.sweep(odd); len(q.heap) != want {
					t.Fatalf("%d entries are left, want %d", len(q.heap), want)
				}
			case 1, 2, 3:
				if len(q.heap) > 0 {
					e := q.pop()
					if e.before(&last) {
						t.Fatalf("%+v left after %+v", e, last)
					}
					last = e
				}
			default:
				seq++
				q.push(entry{at: last.at + int64(rapid.IntRange(0, 3).Draw(t, "delay")), seq: seq, x: seq})
			}
		}
		for len(q.heap) > 0 {
			e := q.pop()
			if e.before(&last) {
				t.Fatalf("%+v left after %+v", e, last)
			}
			last = e
		}
	})
}
