package inspect_test

import (
	"testing"

	"pgregory.net/rapid"

	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/node/storage"
)

// Whatever the engine is at when it is killed, appends, truncations, deletions or a
// swap of the cleaner's, with checkpoints from before: the next start mends it, so it is
// no fault.
func TestALogIsSoundWhereverAKillComes(t *testing.T) {
	truncated := 0
	rapid.Check(t, func(r *rapid.T) {
		e := &engine{t: r, disk: simdisk.New(), compacted: rapid.Bool().Draw(r, "compacted"), points: true}
		e.open(nil, false)
		stride, ops := rapid.IntRange(2, 40).Draw(r, "stride"), 0
		e.openOn(halting{e.fs, func() {
			if ops++; ops%stride == 0 {
				e.sound("killed")
			}
		}}, e.log, false)
		for range rapid.IntRange(1, 20).Draw(r, "works") {
			switch rapid.IntRange(0, 5).Draw(r, "work") {
			case 0:
				o := e.log.LogEnd() + kafka.Offset(rapid.IntRange(0, 9).Draw(r, "ahead"))
				if err := e.log.TruncateFullyAndStartAt(o); err != nil {
					t.Fatal(err)
				}
				e.truncated()
				truncated++
			case 1:
				e.cut(e.log.LogEnd() - kafka.Offset(rapid.IntRange(0, 60).Draw(r, "back")))
			case 2:
				e.log.Flush(nil)
				e.settle()
				e.write(storage.RecoveryPointCheckpoint, e.log.RecoveryPoint())
			default:
				e.work(rapid.IntRange(1, 6).Draw(r, "times"))
			}
			e.sound("killed")
		}
	})
	if truncated == 0 {
		t.Error("nothing was truncated fully")
	}
}
