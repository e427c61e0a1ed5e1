package storage

import (
	"slices"
	"strings"
	"testing"

	"tidemark/model/kafka"
)

// cleanedApart is what stays of a compacted log with a segment for each batch, of which
// the cleaner emptied the second one, after a clean stop.
func cleanedApart(t *testing.T) (w *world, before []string, cleanedUpTo kafka.Offset) {
	w, l, j := keyed(t, "")
	for _, key := range []string{"a", "b", "b", "c", "d", "e"} {
		store(t, l, key+"="+strings.Repeat("x", 300))
	}
	l.SetHighWatermark(l.LogEnd())
	l.Flush(nil)
	w.drain()
	j.round()
	w.drain()
	before = text(content(t, l))
	if len(before) != 5 || len(l.segments) < 5 {
		t.Fatalf("%d segments hold %v", len(l.segments), before)
	}
	cleanedUpTo = l.CleanedUpTo()
	stop(t, w, l)
	w.kill()
	return w, before, cleanedUpTo
}

// Without a recovery point everything is walked, and a gap that compaction left between
// two segments looks like the lost end of the first.
func TestAGapThatCompactionLeftIsNoHoleWhereTheRecoveryPointIsLost(t *testing.T) {
	for _, c := range []struct {
		name   string
		with   func(*Opening, kafka.Offset)
		policy func(*Config)
		kept   bool
	}{
		{name: "the cleaner's checkpoint tells", kept: true,
			with: func(o *Opening, cleaned kafka.Offset) { o.PointKnown, o.CleanedUpTo = true, cleaned }},
		{name: "it tells of a log that is not compacted any more", kept: true,
			with:   func(o *Opening, cleaned kafka.Offset) { o.CleanedUpTo = cleaned },
			policy: func(c *Config) { c.Compacted, c.Delete = false, true }},
		{name: "nothing tells", kept: true,
			with: func(*Opening, kafka.Offset) {}},
		{name: "the recovery point tells", kept: true,
			with: func(o *Opening, _ kafka.Offset) { o.RecoveryPoint = 2 }},
		{name: "nothing was ever flushed", kept: false,
			with: func(o *Opening, _ kafka.Offset) { o.PointKnown = true }},
	} {
		w, before, cleaned := cleanedApart(t)
		var o Opening
		c.with(&o, cleaned)
		cfg := compacted()
		if c.policy != nil {
			c.policy(&cfg)
		}
		l := w.openAs(cfg, o)
		if got := text(content(t, l)); slices.Equal(got, before) != c.kept || !c.kept && len(got) != 1 {
			t.Errorf("%s: the log has %v, before %v", c.name, got, before)
		}
		if l.CleanedUpTo() > l.LogEnd() {
			t.Errorf("%s: it is clean up to %d, and ends at %d", c.name, l.CleanedUpTo(), l.LogEnd())
		}
		audit(t, l)
		w.drain()
	}
}

// A leader's compacted log may skip more offsets than a segment can count. What a
// follower appended behind such a gap was never behind anything else.
func TestAGapThatNoSegmentCanSpanIsNoHole(t *testing.T) {
	for _, point := range []kafka.Offset{0, 2} {
		w, l := newLog(t)
		for _, base := range []kafka.Offset{0, 1, 3 << 30, 3<<30 + 1} {
			if _, err := l.AppendAsFollower(replica(base, 1, 1000, "value"), 1); err != nil {
				t.Fatal(err)
			}
		}
		if len(l.segments) != 2 {
			t.Fatalf("%d segments", len(l.segments))
		}
		w.kill()
		l, rec := w.open(false, point, 0)
		if rec.CutAt != kafka.NoOffset || l.LogEnd() != 3<<30+2 || len(content(t, l)) != 4 {
			t.Errorf("recovery point %d: %+v", point, rec)
		}
		audit(t, l)
	}
}
