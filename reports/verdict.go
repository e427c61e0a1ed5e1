package reports

import (
	"fmt"

	"tidemark/checker"
)

// Limits of the closing lines, so that the narrative keeps room for the story.
const (
	mostFindings = 6
	mostRemarks  = 3
)

// verdictLines says what the checker found, where each lost record was
// acknowledged and lost, and how to replay the run.
func verdictLines(rep *checker.Report, replay string) []string {
	lines := []string{"", "verdict: " + string(rep.Verdict)}
	for i, f := range lostFirst(rep.Findings) {
		if i == mostFindings {
			lines = append(lines, fmt.Sprintf("  and %s", plural(len(rep.Findings)-i, "more finding")))
			break
		}
		lines = append(lines, findingLines(f)...)
	}
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
	if replay != "" {
		lines = append(lines, replayLine(replay))
	}
	return lines
}

// lostFirst puts what was promised to a client and lost before all else.
func lostFirst(findings []checker.Finding) []*checker.Finding {
	var first, other []*checker.Finding
	for i := range findings {
		if findings[i].Rule == "lost-write" {
			first = append(first, &findings[i])
			continue
		}
		other = append(other, &findings[i])
	}
	return append(first, other...)
}

// findingLines is the finding's sentence, and the moments of a lost record.
func findingLines(f *checker.Finding) []string {
	lines := []string{fmt.Sprintf("  %s: %s", f.Rule, f.Text)}
	if f.Premise != "" {
		lines[0] += " (excused: " + f.Premise + ")"
	}
	if f.Rule == "lost-write" && f.Lost.Seq > 0 {
		lines = append(lines, fmt.Sprintf("    %s of %s: acknowledged at event %s, lost at event %s%s",
			records(f), f.TP, moment(f.Acked), moment(f.Lost), sealed(f)))
	}
	return lines
}

func moment(m checker.Moment) string {
	return fmt.Sprintf("%d (%s s)", m.Seq, seconds4(m.At))
}

func sealed(f *checker.Finding) string {
	if f.Sealed.Seq == 0 || f.Sealed.Seq == f.Lost.Seq {
		return ""
	}
	return ", sealed by the election at event " + moment(f.Sealed)
}
