package plan

import "strings"

const goldenMark = "----"

// byteOrderMark begins the text files of some editors.
const byteOrderMark = "\ufeff"

// parseGolden splits what follows the first mark by its marks; each names the
// variant that its text belongs to.
func parseGolden(lines []string) map[string]string {
	golden := map[string]string{}
	for len(lines) > 0 {
		variant := strings.TrimSpace(strings.TrimPrefix(lines[0], goldenMark))
		end := 1
		for end < len(lines) && !strings.HasPrefix(lines[end], goldenMark) {
			end++
		}
		golden[variant] = strings.Trim(strings.Join(lines[1:end], "\n"), "\n") + "\n"
		lines = lines[end:]
	}
	return golden
}

// WithGolden returns a scenario file's text with output as what a run of that
// variant must print; the other sections stay.
func WithGolden(text, variant, output string) string {
	head, tail := text, ""
	if i := goldenStart(text); i >= 0 {
		head, tail = text[:i], text[i:]
	}
	mark := strings.TrimSpace(goldenMark + " " + variant)
	var b strings.Builder
	b.WriteString(head)
	done := false
	for tail != "" {
		section := tail
		if i := strings.Index(tail[1:], "\n"+goldenMark); i >= 0 {
			section = tail[:i+2]
		}
		tail = tail[len(section):]
		if name, _, _ := strings.Cut(section, "\n"); strings.TrimSpace(name) == mark {
			section, done = mark+"\n"+output, true
		}
		b.WriteString(section)
	}
	if !done {
		b.WriteString(mark + "\n" + output)
	}
	return b.String()
}

// goldenStart is where the first section begins, -1 if there is none.
func goldenStart(text string) int {
	if strings.HasPrefix(text, goldenMark) {
		return 0
	}
	if i := strings.Index(text, "\n"+goldenMark); i >= 0 {
		return i + 1
	}
	return -1
}
