package reports

import (
	"math"
	"sort"
)

// timeScale maps instants to the width of the picture, piece by piece: between
// two neighbouring instants it is linear.
type timeScale struct {
	at []int64   // ascending, distinct
	x  []float64 // the place of each, ascending
}

// Weights of a piece: a key instant takes keyRoom, another ordinaryRoom, and a
// piece of duration d takes gapRoom for each power of ten of milliseconds in d.
const (
	keyRoom      = 1.0
	ordinaryRoom = 0.35
	gapRoom      = 0.9
	// crowd is the number of ordinary instants from which on they share the
	// room of that many.
	crowd = 150
)

// newTimeScale spreads the instants, sorted, over [left, right].
func newTimeScale(instants []instant, left, right float64) *timeScale {
	distinct := instants[:0:0]
	ordinary := 0
	for _, i := range instants {
		if n := len(distinct); n > 0 && distinct[n-1].at == i.at {
			distinct[n-1].key = distinct[n-1].key || i.key
			continue
		}
		distinct = append(distinct, i)
		if !i.key {
			ordinary++
		}
	}
	share := min(1, float64(crowd)/math.Max(1, float64(ordinary)))
	s := &timeScale{}
	total := 0.0
	for k, i := range distinct {
		if k > 0 {
			gap := float64(i.at-distinct[k-1].at) / 1e6
			w := ordinaryRoom + gapRoom*math.Log10(1+gap)*0.5
			if i.key || distinct[k-1].key {
				w += keyRoom - ordinaryRoom
			} else {
				w *= share
			}
			total += w
		}
		s.at, s.x = append(s.at, i.at), append(s.x, total)
	}
	for k := range s.x {
		if total > 0 {
			s.x[k] = left + s.x[k]/total*(right-left)
		} else {
			s.x[k] = left
		}
	}
	return s
}

// place is the place of an instant, which may lie between the known ones.
func (s *timeScale) place(at int64) float64 {
	k := sort.Search(len(s.at), func(i int) bool { return s.at[i] >= at })
	switch {
	case len(s.at) == 0:
		return 0
	case k == len(s.at):
		return s.x[k-1]
	case s.at[k] == at || k == 0:
		return s.x[k]
	}
	part := float64(at-s.at[k-1]) / float64(s.at[k]-s.at[k-1])
	return s.x[k-1] + part*(s.x[k]-s.x[k-1])
}

// tick is a labelled place of the axis.
type tick struct {
	x  float64
	at int64
}

// ticks are instants at least room apart, from the first to the last.
func (s *timeScale) ticks(room float64) []tick {
	var ts []tick
	for k := range s.at {
		last := k == len(s.at)-1
		if n := len(ts); n > 0 && s.x[k]-ts[n-1].x < room {
			if last && n > 1 {
				ts[n-1] = tick{s.x[k], s.at[k]}
			}
			continue
		}
		ts = append(ts, tick{s.x[k], s.at[k]})
	}
	return ts
}

// gap is a long piece of the axis, which stands for more time than its width.
type gap struct {
	from, to float64
	length   int64 // ns
}

// gaps are the pieces that stand for much more time than others: at least
// 200 ms and a twentieth of the whole run.
func (s *timeScale) gaps() []gap {
	var gs []gap
	if len(s.at) == 0 {
		return gs
	}
	whole := s.at[len(s.at)-1] - s.at[0]
	for k := 1; k < len(s.at); k++ {
		if d := s.at[k] - s.at[k-1]; d >= 200_000_000 && d*20 >= whole {
			gs = append(gs, gap{s.x[k-1], s.x[k], d})
		}
	}
	return gs
}
