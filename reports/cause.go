package reports

import (
	"fmt"
	"strings"

	"tidemark/checker"
	"tidemark/model/kafka"
)

// cause is what one event took: the lost writes that name the same loss, the
// same election that sealed it and the same premise. Each is a range of offsets,
// in order; between them lie records that nobody had promised. A finding of
// another rule is alone.
type cause []*checker.Finding

// causes groups the findings; the others stay alone. The order of the first of
// each is kept.
func causes(fs []*checker.Finding) []cause {
	var cs []cause
next:
	for _, f := range fs {
		for i := range cs {
			if cs[i].brought(f) {
				cs[i] = append(cs[i], f)
				continue next
			}
		}
		cs = append(cs, cause{f})
	}
	return cs
}

// brought reports whether a finding has this cause as well.
func (c cause) brought(f *checker.Finding) bool {
	g := c[0]
	return f.Rule == "lost-write" && g.Rule == f.Rule && f.TP == g.TP && f.Verdict == g.Verdict &&
		f.Premise == g.Premise && f.Lost.Seq == g.Lost.Seq && f.Sealed.Seq == g.Sealed.Seq
}

// span is the lowest and the highest offset.
func (c cause) span() (first, last kafka.Offset) { return c[0].Offset, c[len(c)-1].Last }

// brief says what was taken in few words.
func (c cause) brief() string {
	if len(c) == 1 {
		return records(c[0])
	}
	first, last := c.span()
	return fmt.Sprintf("%d ranges in %d..%d", len(c), first, last)
}

// mostRanges is the most ranges that offsets lists.
const mostRanges = 8

// offsets lists the ranges.
func (c cause) offsets() string {
	if len(c) == 1 {
		return records(c[0])
	}
	var ranges []string
	for i, f := range c {
		if i == mostRanges {
			ranges = append(ranges, plural(len(c)-i, "more range"))
			break
		}
		r := num(int64(f.Offset))
		if f.Last > f.Offset {
			r += " to " + num(int64(f.Last))
		}
		ranges = append(ranges, r)
	}
	return "offsets " + strings.Join(ranges, ", ")
}

// sentence is the finding's own, of the first range.
func (c cause) sentence() string {
	s := c[0].Rule
	if len(c) > 1 {
		s += " of " + c.brief()
	}
	return s + ": " + explained(c[0].Text)
}

// lastMoment is the event after which nothing was lost any more by this cause.
func (c cause) lastMoment() uint64 {
	if c[0].Lost.Seq == 0 && c[0].Sealed.Seq == 0 {
		return c[len(c)-1].Seq
	}
	return max(c[0].Lost.Seq, c[0].Sealed.Seq)
}

// holds reports whether an offset lies in one of the ranges.
func (c cause) holds(o kafka.Offset) bool {
	for _, f := range c {
		if f.Offset <= o && o <= f.Last {
			return true
		}
	}
	return false
}
