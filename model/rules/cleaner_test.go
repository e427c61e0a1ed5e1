package rules

import (
	"math"
	"testing"

	"tidemark/model/kafka"
)

func cleanerOf(t *testing.T, names string) Cleaner {
	t.Helper()
	r, err := Parse(names)
	if err != nil {
		t.Fatal(err)
	}
	return r.Cleaner
}

func TestCompactionStopsAtTheLastStableOffset(t *testing.T) {
	quiet := CleanableLog{HighWatermark: 9, LastStable: 9, FirstUnstable: kafka.NoOffset}
	open := CleanableLog{HighWatermark: 9, LastStable: 6, FirstUnstable: 6}
	c := cleanerOf(t, "")
	if c.Bound(quiet) != 9 || c.Bound(open) != 6 {
		t.Errorf("bounds are %d and %d, want 9 and 6", c.Bound(quiet), c.Bound(open))
	}
	old := cleanerOf(t, "cleanBound=activeSegment")
	if old.Bound(quiet) != math.MaxInt64 || old.Bound(open) != 6 {
		t.Errorf("old bounds are %d and %d, want none and 6", old.Bound(quiet), old.Bound(open))
	}
}

func TestATombstoneGoesAtTheHorizonThatItsBatchCarries(t *testing.T) {
	c := cleanerOf(t, "")
	for horizon, want := range map[kafka.Timestamp]bool{-1: false, 99: true, 100: true, 101: false} {
		if got := c.MayDrop(DeleteAge{Now: 100, Horizon: horizon, Segment: 1, Clean: 90, DeleteRetentionMs: 10}); got != want {
			t.Errorf("at 100 with horizon %d: %t", horizon, got)
		}
	}
	if h, ok := c.Horizon(100, 10); h != 110 || !ok {
		t.Errorf("horizon is %d, %t", h, ok)
	}
	if h, ok := c.Horizon(100, math.MaxInt64); h != math.MaxInt64 || !ok {
		t.Errorf("horizon of an endless retention is %d, %t", h, ok)
	}
}

func TestTheOldHorizonIsTheAgeOfTheSegment(t *testing.T) {
	c := cleanerOf(t, "deleteHorizon=segmentMtime")
	for _, e := range []struct {
		segment, clean kafka.Timestamp
		want           bool
	}{{80, 90, true}, {81, 90, false}, {1, -1, false}} {
		if got := c.MayDrop(DeleteAge{Now: 1000, Horizon: 5, Segment: e.segment, Clean: e.clean, DeleteRetentionMs: 10}); got != e.want {
			t.Errorf("segment of %d, last clean one of %d: %t", e.segment, e.clean, got)
		}
	}
	if _, ok := c.Horizon(100, 10); ok {
		t.Error("batches are stamped")
	}
}

func TestOnlyTheOldRuleForgetsLastBatches(t *testing.T) {
	for _, b := range []LastBatch{{}, {OfProducer: true}, {OfPass: true}} {
		if got, want := cleanerOf(t, "").KeepEmpty(b), b != (LastBatch{}); got != want {
			t.Errorf("%+v is kept: %t", b, got)
		}
		if cleanerOf(t, "cleanLastBatch=drop").KeepEmpty(b) {
			t.Errorf("the old rule keeps %+v", b)
		}
	}
}
