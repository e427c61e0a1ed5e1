package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"tidemark/checker"
	"tidemark/checker/history"
)

// ruleResult is what came out for one rule.
type ruleResult struct {
	name    string
	verdict checker.Verdict
	checks  int
	due     bool
	// How much was found, listed in the report or only counted there.
	findings, notes, undecided int
}

// ruleResults are all rules, in the checker's order. A rule that made no check is
// unknown, whether there was something to judge or not, and so is one that found
// nothing else than what it could not decide.
func ruleResults(r checker.Report) []ruleResult {
	var all []ruleResult
	for _, c := range r.Checks {
		one := ruleResult{name: c.Rule, verdict: checker.Pass, checks: c.Checks, due: c.Due}
		one.count(r)
		if c.Checks == 0 || one.undecided > 0 {
			one.verdict = checker.Unknown
		}
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Rule == c.Rule && one.verdict != checker.Violation {
				one.verdict = f.Verdict
			}
		}
		all = append(all, one)
	}
	return all
}

// count adds up what the rule found.
func (r *ruleResult) count(report checker.Report) {
	for i := range report.Findings {
		if report.Findings[i].Rule == r.name {
			r.findings++
		}
	}
	for _, n := range report.Notes {
		if n.Rule == r.name {
			r.notes++
		}
	}
	for _, f := range report.Found {
		if f.Rule == r.name {
			r.findings += f.Left
			r.undecided += f.Unknown
		}
	}
}

// mostFindings is how many findings of a rule are printed with their witnesses.
const mostFindings = 10

// checkText is what check prints; with named, the rules too that had nothing to judge.
func checkText(c checkResult, named bool) string {
	var b strings.Builder
	source := ""
	if c.header.Source != "" {
		source = ", from " + c.header.Source
	}
	putLine(&b, "%s: %d events, %s world, ordered by %s%s", strings.Join(c.files, ", "), c.events, world(c), c.header.Clock, source)
	b.WriteByte('\n')
	writeFindings(&b, c)
	writeNotes(&b, c)
	writeRules(&b, c, named)
	writeGaps(&b, c.report.Gaps)
	for _, why := range c.report.Unknown {
		putLine(&b, "unknown: %s", why)
	}
	putLine(&b, "verdict: %s", verdictLine(c.report))
	return b.String()
}

// putLine writes one line. Whatever a history says goes through it, so that
// no name of a topic or client can begin a line or speak to the terminal.
func putLine(b *strings.Builder, format string, v ...any) {
	b.WriteString(history.Printable(fmt.Sprintf(format, v...)))
	b.WriteByte('\n')
}

func world(c checkResult) string {
	if c.header.Open {
		return "open"
	}
	return "closed"
}

// verdictLine is the verdict and the rules that it rests on.
func verdictLine(r checker.Report) string {
	rules := r.Broken()
	if r.Verdict == checker.Excused {
		rules = r.Excused()
	}
	if len(rules) == 0 {
		return string(r.Verdict)
	}
	return string(r.Verdict) + ": " + strings.Join(rules, ", ")
}

func writeFindings(b *strings.Builder, c checkResult) {
	shown, left := map[string]int{}, []string{}
	for i := range c.report.Findings {
		f := &c.report.Findings[i]
		if shown[f.Rule]++; shown[f.Rule] > mostFindings {
			if shown[f.Rule] == mostFindings+1 {
				left = append(left, f.Rule)
			}
			continue
		}
		writeFinding(b, c, f)
	}
	for _, rule := range left {
		putLine(b, "%d more findings of %s: --json has all", shown[rule]-mostFindings, rule)
	}
	if len(left) > 0 {
		b.WriteByte('\n')
	}
}

func writeFinding(b *strings.Builder, c checkResult, f *checker.Finding) {
	title := fmt.Sprintf("%s %s", f.Verdict, f.Rule)
	if name := jepsenName(f.Rule); name != "" && name != f.Rule {
		title += fmt.Sprintf(" (Jepsen: %s)", name)
	}
	if f.Secondary {
		title += fmt.Sprintf(", follows from %s", f.Cause)
	}
	putLine(b, "%s", title)
	putLine(b, "  %s", f.Text)
	if f.Premise != "" {
		putLine(b, "  excused: %s", f.Premise)
	}
	if f.Contract != "" && f.Verdict == checker.Violation {
		putLine(b, "  promised: %s", f.Contract)
	}
	for _, premise := range f.Ledger {
		putLine(b, "  premise: %s", premise)
	}
	for _, seq := range witnessesOf(f) {
		if w, ok := c.witnesses[seq]; ok {
			putLine(b, "    %s  event %d  %s  %s", w.where(), seq, moment(w.At), w.String())
		}
	}
	b.WriteByte('\n')
}

// jepsenName is Jepsen's name for what a rule finds, "" if it has none.
func jepsenName(rule string) string {
	for _, p := range checker.Promises() {
		if p.Rule == rule {
			return p.Jepsen
		}
	}
	return ""
}

func writeNotes(b *strings.Builder, c checkResult) {
	shown := map[string]int{}
	for _, n := range c.report.Notes {
		if shown[n.Rule]++; shown[n.Rule] <= mostFindings {
			putLine(b, "note %s: %s", n.Rule, n.Text)
		}
	}
	if len(c.report.Notes) > 0 {
		b.WriteByte('\n')
	}
}

// writeRules lists the rules that judged something, or should have. Of most histories
// more than half of all have nothing to judge: those are counted.
func writeRules(b *strings.Builder, c checkResult, named bool) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	var idle []string
	results := ruleResults(c.report)
	for _, r := range results {
		if r.checks == 0 && !r.due && r.undecided == 0 && r.verdict == checker.Unknown {
			idle = append(idle, r.name)
			continue
		}
		fmt.Fprintf(t, "%s\t%d checks\t%s", r.name, r.checks, r.verdict)
		for _, found := range []struct {
			n    int
			what string
		}{{r.findings, "found"}, {r.notes, "notes"}, {r.undecided, "undecided"}} {
			if found.n > 0 {
				fmt.Fprintf(t, ", %d %s", found.n, found.what)
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	if len(idle) > 0 {
		writeIdle(b, idle, len(results), named)
	}
	b.WriteByte('\n')
}

// writeIdle tells of rules that had nothing to judge, out of all.
func writeIdle(b *strings.Builder, idle []string, all int, named bool) {
	fmt.Fprintf(b, "\nunknown: %d of %d rules, for this history has nothing for them to judge", len(idle), all)
	if !named {
		b.WriteString(" (-v names them)\n")
		return
	}
	b.WriteString(":\n")
	writeWrapped(b, idle)
}

// writeGaps accounts for the offsets that readers passed over, where there is more
// to tell than that all of them hold records.
func writeGaps(b *strings.Builder, all []checker.Gaps) {
	told := false
	for _, g := range all {
		var words []string
		for _, class := range []struct {
			n    int64
			what string
		}{{g.Aborted, "aborted"}, {g.Markers, "markers"}, {g.Compacted, "compacted"}, {g.BelowStart, "below the log start"},
			{g.Truncated, "truncated"}, {g.Lost, "lost"}, {g.Foreign, "of producers that are not shown"}, {g.Unexplained, "unexplained"}} {
			if class.n > 0 {
				words = append(words, fmt.Sprintf("%d %s", class.n, class.what))
			}
		}
		if len(words) > 0 {
			putLine(b, "%v: of the offsets that were read past, %d hold records; %s", g.TP, g.Data, strings.Join(words, ", "))
			told = true
		}
	}
	if told {
		b.WriteByte('\n')
	}
}

// lineWidth is where a list of names goes on in the next line.
const lineWidth = 96

func writeWrapped(b *strings.Builder, names []string) {
	column := 0
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		switch {
		case column == 0:
			b.WriteByte(' ')
		case column+len(name) >= lineWidth:
			b.WriteString("\n ")
			column = 0
		}
		b.WriteString(" " + name)
		column += 1 + len(name)
	}
	b.WriteByte('\n')
}
