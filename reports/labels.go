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
// up, and its own line then passes left of what stands below. Near the right
// border, and where every row is taken, a label may start left of its moment.
// It returns the number of rows used.
func placeLabels(labels []label, left, right float64, rows int) int {
	order := make([]int, len(labels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(labels[a].rank, labels[b].rank), cmp.Compare(labels[b].x, labels[a].x), cmp.Compare(b, a))
	})
	s := shelf{texts: make([][]interval, rows), lines: make([][]float64, rows)}
	used := 0
	for _, i := range order {
		l := &labels[i]
		l.row = -1
		if l.width == 0 {
			continue
		}
		for _, shift := range []float64{0, 0.25, 0.5, 0.75} {
			at := max(left, min(l.x+labelIndent-shift*l.width, right-l.width))
			if l.row = s.put(interval{at, at + l.width}, l.x); l.row >= 0 {
				l.at = at
				used = max(used, l.row+1)
				break
			}
		}
	}
	return used
}

type interval struct{ from, to float64 }

// shelf is the rows of labels placed so far, from the lowest.
type shelf struct {
	texts [][]interval
	lines [][]float64 // by row: the lines that pass through it
}

// put places a text in the lowest row that has room for it and for its line;
// -1 if none has.
func (s *shelf) put(text interval, line float64) int {
	for row := range s.texts {
		if s.free(row, text) {
			s.texts[row] = append(s.texts[row], text)
			for below := range row {
				s.lines[below] = append(s.lines[below], line)
			}
			return row
		}
		if slices.ContainsFunc(s.texts[row], func(t interval) bool { return t.from < line && line < t.to }) {
			return -1 // the line to a higher row would cross this text
		}
	}
	return -1
}

func (s *shelf) free(row int, text interval) bool {
	return !slices.ContainsFunc(s.texts[row], func(t interval) bool { return text.from < t.to+labelSpace && t.from < text.to+labelSpace }) &&
		!slices.ContainsFunc(s.lines[row], func(x float64) bool { return text.from < x+leaderSpace && x < text.to+leaderSpace })
}
