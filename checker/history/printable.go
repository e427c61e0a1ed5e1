package history

import (
	"strconv"
	"strings"
)

// Printable is a line of text for a terminal: characters that do not print, such as
// line ends and terminal controls in somebody's topic name, are written as
// strconv.Quote writes them, so that no name can pass for a line of ours.
func Printable(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if !hidden(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRune(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

func hidden(r rune) bool { return !strconv.IsPrint(r) }
