package storage

import (
	"math"

	"tidemark/model/kafka"
)

// groupSegments divides consecutive segments into groups, each of which the
// cleaner makes one segment of: as many as fit into segment.bytes, into
// segment.index.bytes for each index, and into the 32 bits that an index has for
// an offset. What comes out is smaller, often much, as sizes before the cleaning
// count. The last offset of a segment is taken from what follows it, upTo for the
// last; one without records extends no range.
func groupSegments(segments []*segment, c Config, upTo kafka.Offset) (groups [][]*segment) {
	for len(segments) > 0 {
		n := 1
		sum := sizesOf(segments[0])
		for ; n < len(segments); n++ {
			s, next := segments[n], upTo
			if n+1 < len(segments) {
				next = segments[n+1].base
			}
			more := sum.plus(sizesOf(s))
			if !more.fit(c) || s.size > 0 && int64(next-1-segments[0].base) > math.MaxInt32 {
				break
			}
			sum = more
		}
		groups, segments = append(groups, segments[:n:n]), segments[n:]
	}
	return groups
}

// segmentSizes are the bytes of a segment's log file and of its indexes.
type segmentSizes struct{ log, offsets, times int64 }

func sizesOf(s *segment) segmentSizes {
	return segmentSizes{s.size, int64(len(s.index.data)), int64(len(s.times.data))}
}

func (a segmentSizes) plus(b segmentSizes) segmentSizes {
	return segmentSizes{a.log + b.log, a.offsets + b.offsets, a.times + b.times}
}

func (a segmentSizes) fit(c Config) bool {
	return a.log <= int64(c.SegmentBytes) && a.offsets <= int64(c.SegmentIndexBytes) && a.times <= int64(c.SegmentIndexBytes)
}
