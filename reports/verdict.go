package reports

import (
	"cmp"
	"fmt"
	"slices"

	"tidemark/checker"
)

// Limits of the closing lines, so that the narrative keeps room for the story.
const (
	mostFindings = 6
	mostRemarks  = 3
)

// verdictLines says what the checker found, where each lost record was
// acknowledged and lost, and how to replay the run.
func verdictLines(rep *checker.Report, o Options) []string {
	lines := []string{"verdict: " + string(rep.Verdict)}
	if o.Declared != "" {
		lines[0] += ", " + o.Declared
	}
	lines = append(lines, findingLines(rep)...)
	for i, u := range rep.Unknown {
		if i == mostRemarks {
			lines = append(lines, fmt.Sprintf("  and %s why it is not known", plural(len(rep.Unknown)-i, "more reason")))
			break
		}
		lines = append(lines, "  unknown: "+u)
	}
	for i := range rep.Notes {
		if i == mostRemarks {
			lines = append(lines, fmt.Sprintf("  and %s", plural(len(rep.Notes)-i, "more note")))
			break
		}
		lines = append(lines, "  note: "+rep.Notes[i].Text)
	}
	if o.Replay != "" {
		lines = append(lines, replayLine(o.Replay))
	}
	return lines
}

// gravestFirst puts violations before what is excused, because the report's
// verdict is that of the gravest one, and among equals what was promised to a
// client and lost before all else.
func gravestFirst(findings []checker.Finding) []*checker.Finding {
	var fs []*checker.Finding
	for i := range findings {
		fs = append(fs, &findings[i])
	}
	slices.SortStableFunc(fs, func(a, b *checker.Finding) int { return cmp.Compare(gravity(a), gravity(b)) })
	return fs
}

// gravity is lower for what matters more.
func gravity(f *checker.Finding) int {
	g := 0
	if f.Verdict != checker.Violation {
		g += 2
	}
	if f.Rule != "lost-write" {
		g++
	}
	return g
}

// hidden counts findings that have no line of their own, and says which of them
// are violations where not all are.
func hidden(fs []cause) string {
	all, violations := 0, 0
	for _, c := range fs {
		all += len(c)
		if c[0].Verdict == checker.Violation {
			violations += len(c)
		}
	}
	s := plural(all, "more finding")
	if violations > 0 && violations < all {
		s += ", of which " + plural(violations, "violation")
	}
	return s
}

// findingLines is a sentence for each cause, and the moments of a lost record.
// A premise that excuses several is told once.
func findingLines(rep *checker.Report) []string {
	var lines []string
	excused := map[string]bool{}
	cs := causes(gravestFirst(rep.Findings))
	for i, c := range cs {
		if i == mostFindings {
			return append(lines, "  and "+hidden(cs[i:]))
		}
		line := "  " + c.sentence()
		switch premise := c[0].Premise; {
		case premise == "":
		case excused[premise]:
			line += " (excused likewise)"
		default:
			line += " (excused: " + premise + ")"
			excused[premise] = true
		}
		lines = append(lines, line)
		if moments := c.moments(); moments != "" {
			lines = append(lines, moments)
		}
	}
	return lines
}

// moments says when lost records were acknowledged, lost and given up for good;
// "" for other findings and where the trace does not show it.
func (c cause) moments() string {
	f, last := c[0], c[len(c)-1]
	if f.Rule != "lost-write" || f.Lost.Seq == 0 && len(c) == 1 {
		return ""
	}
	s := fmt.Sprintf("    %s of %s: acknowledged at event %s", c.offsets(), f.TP, moment(f.Acked))
	if len(c) > 1 {
		s += " to " + moment(last.Acked)
	}
	if f.Lost.Seq > 0 {
		s += ", lost at event " + moment(f.Lost)
	}
	if f.Sealed.Seq > 0 && f.Sealed.Seq != f.Lost.Seq {
		s += ", sealed by the election at event " + moment(f.Sealed)
	}
	return s
}

func moment(m checker.Moment) string {
	return fmt.Sprintf("%d (%s s)", m.Seq, seconds4(m.At))
}
