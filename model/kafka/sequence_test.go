package kafka

import (
	"math"
	"testing"
)

func TestSequencesGoOnFromTheLargestToZero(t *testing.T) {
	for _, c := range []struct {
		s    Sequence
		n    int32
		want Sequence
	}{
		{-1, 1, 0}, {0, 5, 5}, {math.MaxInt32, 1, 0}, {math.MaxInt32 - 3, 9, 5}, {5, -9, math.MaxInt32 - 3}, {4, -4, 0},
	} {
		if got := c.s.Add(c.n); got != c.want {
			t.Errorf("%d plus %d is %d, want %d", c.s, c.n, got, c.want)
		}
	}
}

func TestOrderOfSequencesHoldsAcrossTheWrap(t *testing.T) {
	for _, c := range []struct {
		s, o Sequence
		want bool
	}{
		{0, -1, true}, {math.MaxInt32, -1, true}, {-1, -1, false}, {7, 7, false}, {8, 7, true}, {7, 8, false},
		{3, math.MaxInt32 - 2, true}, {math.MaxInt32 - 2, 3, false},
	} {
		if got := c.s.After(c.o); got != c.want {
			t.Errorf("%d after %d is %t", c.s, c.o, got)
		}
	}
}
