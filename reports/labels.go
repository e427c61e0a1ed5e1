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
	row      int  // from 0, nearest to the sign; -1: there was no room
	bare     bool // no line leads to its sign
}

const (
	// labelSpace keeps two labels of a row apart.
	labelSpace = 9.0
	// labelIndent is how far right of its moment a label starts.
	labelIndent = 4.0
	// leaderSpace keeps a label off the line from another one to its sign.
	leaderSpace = 3.0
)

// placeLabels puts each label right of its moment into the lowest row that is
// free, so that none overlaps another or the line that leads from another down
// to its sign. It goes from right to left: a label that has to give way moves
// up, and its own line then passes left of what stands below. Of one moment the
// last label is the lowest, so that they read down in order of time. Near the
// right border, and where every row is taken, a label may start left of its
// moment. Where there is no room for all, those of the lowest rank are placed
// first. It returns the number of rows used.
func placeLabels(labels []label, left, right float64, rows int) int {
	used := place(labels, false, left, right, rows)
	if !slices.ContainsFunc(labels, func(l label) bool { return l.row < 0 && l.width > 0 }) {
		return used
	}
	ranked := slices.Clone(labels)
	if u := place(ranked, true, left, right, rows); fewerMissing(ranked, labels) {
		copy(labels, ranked)
		used = u
	}
	return used
}

// fewerMissing compares two placings of the same labels: how many have no room,
// those of the lowest rank first.
func fewerMissing(a, b []label) bool {
	missing := func(ls []label, rank int) (n int) {
		for _, l := range ls {
			if l.rank == rank && l.row < 0 && l.width > 0 {
				n++
			}
		}
		return n
	}
	for rank := range 4 {
		if d := missing(a, rank) - missing(b, rank); d != 0 {
			return d < 0
		}
	}
	return false
}

// place is one try, with regard to the ranks or without.
func place(labels []label, ranked bool, left, right float64, rows int) int {
	order := make([]int, len(labels))
	for i := range order {
		order[i] = i
	}
	best := map[float64]int{} // by moment
	for _, l := range labels {
		if r, ok := best[l.x]; !ok || l.rank < r {
			best[l.x] = l.rank
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		c := 0
		if ranked {
			c = cmp.Compare(best[labels[a].x], best[labels[b].x])
		}
		return cmp.Or(c, cmp.Compare(labels[b].x, labels[a].x), cmp.Compare(b, a))
	})
	s := shelf{texts: make([][]interval, rows), lines: make([][]float64, rows)}
	used := 0
	for n, i := range order {
		l := &labels[i]
		l.row = -1
		if l.width == 0 {
			continue
		}
		if s.fit(l, labels, order[n+1:], left, right); l.row >= 0 {
			used = max(used, l.row+1)
		}
	}
	return used
}

// fit finds the place of a label. One that covers the moment of a label still
// to come goes above it if it can. At the right border one that shares its moment
// with one that has a line goes left of the moment, so that the other's line can pass.
func (s *shelf) fit(l *label, labels []label, later []int, left, right float64) {
	shifts := []float64{0, 0.25, 0.5, 0.75, 1}
	shared := slices.ContainsFunc(later, func(i int) bool { return labels[i].x == l.x && labels[i].width > 0 && !labels[i].bare })
	if shared && l.x+labelIndent+l.width > right {
		shifts = []float64{1, 0, 0.25, 0.5, 0.75}
	}
	for _, shift := range shifts {
		at := max(left, min(l.x+labelIndent-shift*(l.width+2*labelIndent), right-l.width))
		text := interval{at, at + l.width}
		lowest := covered(text, l, labels, later, len(s.texts)-1)
		if l.row = s.put(text, l, lowest); l.row < 0 && lowest > 0 {
			l.row = s.put(text, l, 0)
		}
		if l.row >= 0 {
			l.at = at
			return
		}
	}
}

// covered counts, up to a most, the moments left of a label's own that its text
// would cover.
func covered(text interval, l *label, labels []label, later []int, most int) int {
	n := 0
	for _, i := range later {
		if n >= most {
			break
		}
		if o := &labels[i]; o.width > 0 && o.x < l.x && text.from < o.x+leaderSpace && o.x < text.to {
			n++
		}
	}
	return n
}

type interval struct{ from, to float64 }

// shelf is the rows of labels placed so far, from the lowest.
type shelf struct {
	texts [][]interval
	lines [][]float64 // by row: the lines that pass through it
}

// put places a text in the lowest row, from a given one on, that has room for
// it and for its line; -1 if none has.
func (s *shelf) put(text interval, l *label, lowest int) int {
	for row := range s.texts {
		if row >= lowest && s.free(row, text) {
			s.texts[row] = append(s.texts[row], text)
			for below := range row {
				if !l.bare {
					s.lines[below] = append(s.lines[below], l.x)
				}
			}
			return row
		}
		if !l.bare && slices.ContainsFunc(s.texts[row], func(t interval) bool { return t.from < l.x && l.x < t.to }) {
			return -1 // the line to a higher row would cross this text
		}
	}
	return -1
}

func (s *shelf) free(row int, text interval) bool {
	return !slices.ContainsFunc(s.texts[row], func(t interval) bool { return text.from < t.to+labelSpace && t.from < text.to+labelSpace }) &&
		!slices.ContainsFunc(s.lines[row], func(x float64) bool { return text.from < x+leaderSpace && x < text.to+leaderSpace })
}
