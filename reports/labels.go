package reports

import (
	"cmp"
	"slices"
)

// label is a text that belongs to a moment; at and row say where it went.
type label struct {
	x, width float64 // of the moment; of the text
	rank     int     // lower ones are placed first
	at       float64
	row      int // from 0, nearest to the sign; -1: there was no room
}

// labelSpace keeps two labels of a row apart.
const labelSpace = 9.0

// placeLabels puts each label right of its moment into the lowest row that is
// free, so that none overlaps another. It goes from right to left: a label that
// has to give way moves up, and the line down to its own moment then passes
// left of what stands below. Near the right border, and where every row is
// taken, a label may start left of its moment. It returns the rows used.
func placeLabels(labels []label, left, right float64, rows int) int {
	order := make([]int, len(labels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(labels[a].rank, labels[b].rank), cmp.Compare(labels[b].x, labels[a].x))
	})
	taken := make([][]interval, rows)
	used := 0
	for _, i := range order {
		l := &labels[i]
		l.row = -1
		if l.width == 0 {
			continue
		}
		for _, shift := range []float64{0, 0.25, 0.5, 0.75} {
			at := max(left, min(l.x-shift*l.width, right-l.width))
			if row := freeRow(taken, interval{at, at + l.width}); row >= 0 {
				l.at, l.row = at, row
				taken[row] = append(taken[row], interval{at, at + l.width})
				used = max(used, row+1)
				break
			}
		}
	}
	return used
}

type interval struct{ from, to float64 }

func freeRow(taken [][]interval, want interval) int {
	for row, spans := range taken {
		if !slices.ContainsFunc(spans, func(s interval) bool { return want.from < s.to+labelSpace && s.from < want.to+labelSpace }) {
			return row
		}
	}
	return -1
}
