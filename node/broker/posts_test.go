package broker

import (
	"testing"

	"tidemark/model/kafka"
)

func TestRecoveryPointsAreLostWhereOnlyTheCleanerLeftACheckpoint(t *testing.T) {
	lines := map[kafka.TopicPartition]kafka.Offset{{Topic: "orders"}: 7}
	for _, c := range []struct {
		name  string
		dir   loadedDir
		known bool
	}{
		{"a new directory", loadedDir{}, true},
		{"nothing was cleaned yet", loadedDir{RecoveryPoints: lines}, true},
		{"both are there", loadedDir{RecoveryPoints: lines, Cleaned: lines}, true},
		{"the cleaner's alone", loadedDir{Cleaned: lines}, false},
	} {
		if got := c.dir.pointsKnown(); got != c.known {
			t.Errorf("%s: recovery points known is %t", c.name, got)
		}
	}
}
