package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"tidemark/checker"
	"tidemark/scenarios"
)

// verdictOrder is the order in which verdicts are counted.
var verdictOrder = []checker.Verdict{checker.Pass, checker.Excused, checker.Violation, checker.Unknown}

// verdicts counts the verdicts in one line.
func (s *sweeping) verdicts() string {
	var words []string
	for _, v := range verdictOrder {
		words = append(words, fmt.Sprintf("%d %s", s.tally.Verdicts[v], v))
	}
	return strings.Join(words, ", ")
}

// text is the summary for a reader.
func (s *sweeping) text() string {
	var b strings.Builder
	under := "current rules"
	if s.flags.rules != "" {
		under = "rules " + s.flags.rules
	}
	fmt.Fprintf(&b, "seeds %s, %s: %s\n", s.flags.seeds, under, s.verdicts())
	if s.stopped() {
		fmt.Fprintf(&b, "stopped after %d of %d seeds\n", s.tally.Seeds, s.total)
	}
	if median, ok := s.tally.AckedMedian(); ok {
		fmt.Fprintf(&b, "acknowledged sends: %d.%d %% in the median seed\n", median/10, median%10)
	}
	s.counts(&b)
	s.excused(&b)
	s.found(&b, checker.Unknown, "unknown")
	s.found(&b, checker.Violation, "violations")
	return b.String()
}

func (s *sweeping) counts(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\nfault\tfired\teffective\tin seeds\t%%\t\n")
	for _, f := range s.tally.Faults() {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\t\n", f.Name, f.Fired, f.Effective, f.Seeds, s.share(f.Seeds))
	}
	fmt.Fprintf(t, "\t\t\t\t\t\ncondition\t\ttimes\tin seeds\t%%\t\n")
	for _, c := range s.tally.Conditions() {
		fmt.Fprintf(t, "%s\t\t%d\t%d\t%s\t\n", c.Name, c.Effective, c.Seeds, s.share(c.Seeds))
	}
	t.Flush()
}

// share is a part of the seeds in percent, with one decimal.
func (s *sweeping) share(seeds int) string {
	if s.tally.Seeds == 0 {
		return "-"
	}
	perMille := seeds * 1000 / s.tally.Seeds
	return fmt.Sprintf("%d.%d", perMille/10, perMille%10)
}

// excused lists the excused seeds with the premises that were broken there.
func (s *sweeping) excused(b *strings.Builder) {
	if s.tally.Verdicts[checker.Excused] == 0 {
		return
	}
	fmt.Fprintf(b, "\nexcused\n")
	for _, r := range s.tally.Judged {
		if r.Report.Verdict == checker.Excused {
			fmt.Fprintf(b, "  seed %d: %s; %s\n", r.Seed, strings.Join(r.Report.Excused(), ", "), premise(r.Report))
		}
	}
}

// premise names the first broken premise and counts the findings.
func premise(r checker.Report) string {
	for i := range r.Findings {
		if p := r.Findings[i].Premise; p != "" {
			return p
		}
	}
	return "no premise named"
}

// found lists the seeds of a verdict, each with its first finding or reason and
// the line that replays it.
func (s *sweeping) found(b *strings.Builder, v checker.Verdict, title string) {
	if s.tally.Verdicts[v] == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, r := range s.tally.Judged {
		if r.Report.Verdict == v {
			fmt.Fprintf(b, "  %s\n    %s\n", s.replay(r.Seed), firstReason(r))
		}
	}
}

func firstReason(r scenarios.SeedResult) string {
	if r.Report.Verdict == checker.Unknown {
		return strings.Join(r.Report.Unknown, "; ")
	}
	for i := range r.Report.Findings {
		if f := &r.Report.Findings[i]; f.Verdict == checker.Violation {
			return fmt.Sprintf("%s: %s", f.Rule, f.Text)
		}
	}
	return ""
}
