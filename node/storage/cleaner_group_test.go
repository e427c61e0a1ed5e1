package storage

import (
	"fmt"
	"math"
	"testing"

	"tidemark/model/kafka"
)

func TestSegmentsAreGroupedAsFarAsSizesIndexesAndOffsetsAllow(t *testing.T) {
	c := compacted()
	c.SegmentBytes, c.SegmentIndexBytes = 100, 24
	seg := func(base kafka.Offset, log int64, entries, times int) *segment {
		s := newSegment(base, 0)
		s.size = log
		s.index.data, s.times.data = make([]byte, 8*entries), make([]byte, 12*times)
		return s
	}
	const far = kafka.Offset(math.MaxInt32)
	for _, e := range []struct {
		name string
		in   []*segment
		upTo kafka.Offset
		want string
	}{
		{"bytes", []*segment{seg(0, 60, 0, 0), seg(1, 40, 0, 0), seg(2, 1, 0, 0), seg(3, 100, 0, 0)}, 9, "[2 1 1]"},
		{"one that is too large", []*segment{seg(0, 500, 9, 9), seg(1, 1, 0, 0)}, 9, "[1 1]"},
		{"offset index", []*segment{seg(0, 1, 2, 0), seg(1, 1, 1, 0), seg(2, 1, 1, 0)}, 9, "[2 1]"},
		{"time index", []*segment{seg(0, 1, 0, 1), seg(1, 1, 0, 1), seg(2, 1, 0, 1)}, 9, "[2 1]"},
		{"offsets fit", []*segment{seg(0, 1, 0, 0), seg(1, 1, 0, 0)}, far + 1, "[2]"},
		{"offsets do not fit", []*segment{seg(0, 1, 0, 0), seg(1, 1, 0, 0)}, far + 2, "[1 1]"},
		{"offsets up to the next segment", []*segment{seg(0, 1, 0, 0), seg(1, 1, 0, 0), seg(far+1, 1, 0, 0)}, far + 2, "[2 1]"},
		{"empty segments extend no range", []*segment{seg(0, 1, 0, 0), seg(1, 0, 0, 0), seg(2*far, 0, 0, 0)}, 3 * far, "[3]"},
		{"none", nil, 9, "[]"},
	} {
		sizes := []int{}
		for _, g := range groupSegments(e.in, c, e.upTo) {
			sizes = append(sizes, len(g))
		}
		if got := fmt.Sprint(sizes); got != e.want {
			t.Errorf("%s: groups of %s, want %s", e.name, got, e.want)
		}
	}
}
