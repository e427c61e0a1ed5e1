package checker

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestWhatIsInABlockListStaysWhereItIs(t *testing.T) {
	var list blocks[int]
	var where []*int
	for i := range 5000 {
		x := list.add()
		*x = i
		where = append(where, x)
		for _, k := range []int{0, i / 2, i} {
			if list.at(k) != where[k] || *list.at(k) != k {
				t.Fatalf("of %d, number %d is not where it was put", i+1, k)
			}
		}
	}
	if got := slices.Collect(list.each()); list.len() != len(where) || !slices.Equal(got, where) {
		t.Errorf("going over %d of %d in another order than they came in", len(got), list.len())
	}
}

func TestGoingOverABlockListEndsWithIt(t *testing.T) {
	for n := range 70 { // the last block full, empty and in between
		var list blocks[int]
		for range n {
			list.add()
		}
		seen := 0
		for range list.each() {
			seen++
		}
		if seen != n {
			t.Errorf("%d of %d", seen, n)
		}
	}
}

// Attempts that count up lie in tables, others in a map, and both are found
// however they come.
func TestEveryAttemptIsFoundHoweverAttemptsAreNumbered(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var a attempts
	want := map[uint64]ticket{}
	for i := range int32(20_000) {
		upper := []uint64{0, 7, nearUppers - 1, nearUppers, 1 << 31}[rng.IntN(5)]
		attempt := upper<<32 | uint64(rng.IntN(8000))
		if rng.IntN(10) == 0 {
			attempt = upper<<32 | uint64(rng.Uint32())
		}
		if _, taken := want[attempt]; taken {
			continue
		}
		if a.get(attempt) != nil {
			t.Fatalf("attempt %#x is found before it is entered", attempt)
		}
		want[attempt] = ticket{rng.Uint64(), i + 1}
		a.add(attempt, want[attempt])
	}
	for attempt, k := range want { // unordered: each is looked up by itself
		if got := a.get(attempt); got == nil || *got != k {
			t.Errorf("attempt %#x: %v, want %v", attempt, got, k)
		}
	}
}
