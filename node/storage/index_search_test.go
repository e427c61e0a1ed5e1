package storage

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"tidemark/model/kafka"
)

func TestIndexSearchCountsTheEntriesAtOrBelowAnOffsetHoweverUnevenTheyLie(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := offsetIndex{base: kafka.Offset(rapid.Int64Range(0, 1000).Draw(t, "base"))}
		steps := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "steps"), 0))
		count := rapid.IntRange(0, 300).Draw(t, "entries")
		leap, where := rapid.Int64Range(1, 1<<12).Draw(t, "leap"), rapid.IntRange(0, 300).Draw(t, "where it leaps")
		last := x.base - 1
		for i := range count {
			if last += kafka.Offset(steps.Int64N(4) + 1); i == where {
				last += kafka.Offset(leap)
			}
			x.add(last, int64(i)*4096)
		}
		want := 0
		for o := x.base - 2; o <= last+2; o++ {
			if want < count {
				if at, _ := x.at(want); at <= o {
					want++
				}
			}
			if got := x.after(o); got != want {
				t.Fatalf("%d of %d entries are at or below %d, %d found", want, count, o, got)
			}
		}
	})
}
