package plan

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tidemark/model/kafka"
)

// args are the words of one line that were not read yet. The first failure
// sticks, so that a verb can read its words in a row and ask once.
type args struct {
	words []string
	err   error
}

// split cuts a line into words at blanks; a word may be quoted as in Go.
func split(line string) ([]string, error) {
	var words []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] != '"' {
			word, rest, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
			words, line = append(words, word), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			return nil, fmt.Errorf("the quote %s is not closed", line)
		}
		word, _ := strconv.Unquote(quoted)
		words, line = append(words, word), line[len(quoted):]
	}
	return words, nil
}

func (a *args) failf(format string, v ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, v...)
	}
}

func (a *args) more() bool { return a.err == nil && len(a.words) > 0 }

// next takes a word; what names it for the error.
func (a *args) next(what string) string {
	if a.err != nil {
		return ""
	}
	if len(a.words) == 0 {
		a.failf("%s is missing", what)
		return ""
	}
	w := a.words[0]
	a.words = a.words[1:]
	return w
}

// is tells whether the word w comes next.
func (a *args) is(w string) bool { return a.more() && a.words[0] == w }

// take consumes the word w if it comes next.
func (a *args) take(w string) bool {
	if a.more() && a.words[0] == w {
		a.words = a.words[1:]
		return true
	}
	return false
}

// expect consumes the word w, which must come next.
func (a *args) expect(w string) {
	if got := a.next(strconv.Quote(w)); a.err == nil && got != w {
		a.failf("expected %q, found %q", w, got)
	}
}

func (a *args) integer(what string, low, high int64) int64 {
	w := a.next(what)
	if a.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(w, 10, 64)
	if err != nil || n < low || n > high {
		a.failf("%s is %q: a whole number from %d to %d is needed", what, w, low, high)
	}
	return n
}

func (a *args) duration(what string) time.Duration {
	w := a.next(what)
	if a.err != nil {
		return 0
	}
	d, err := time.ParseDuration(w)
	if err != nil {
		a.failf("%s is %q: a duration such as 500ms, 20s or 1h is needed", what, w)
	}
	return d
}

func (a *args) positiveDuration(what string) time.Duration {
	d := a.duration(what)
	if a.err == nil && d <= 0 {
		a.failf("%s is %v: it must be more than 0", what, d)
	}
	return d
}

func (a *args) node(what string) kafka.BrokerID {
	w := a.next(what)
	if a.err != nil {
		return kafka.NoBroker
	}
	n, err := strconv.ParseInt(w, 10, 32)
	if err != nil || n < 1 {
		a.failf("%s is %q: a node id is needed, 1 for the first broker, 101 for the first controller", what, w)
	}
	return kafka.BrokerID(n)
}

func (a *args) partition() kafka.TopicPartition {
	w := a.next("the partition")
	if a.err != nil {
		return kafka.TopicPartition{}
	}
	tp, err := kafka.ParseTopicPartition(w)
	if err != nil {
		a.failf("%v", err)
	}
	return tp
}

// choice takes one of a few words.
func (a *args) choice(what string, words ...string) string {
	w := a.next(what)
	for _, c := range words {
		if w == c {
			return w
		}
	}
	a.failf("%s is %q: one of %s is needed", what, w, strings.Join(words, ", "))
	return ""
}

// setting splits KEY=VALUE.
func setting(w string, line int) (Setting, error) {
	k, v, ok := strings.Cut(w, "=")
	if !ok || k == "" {
		return Setting{}, fmt.Errorf("expected KEY=VALUE, found %q", w)
	}
	return Setting{Key: k, Value: v, Line: line}, nil
}

// settings takes all the words that are left as KEY=VALUE.
func (a *args) settings(line int) []Setting {
	var out []Setting
	for a.more() {
		s, err := setting(a.next("a setting"), line)
		if err != nil {
			a.err = err
			return nil
		}
		out = append(out, s)
	}
	return out
}

func parseIDs(s string) ([]kafka.BrokerID, error) {
	var ids []kafka.BrokerID
	for _, w := range strings.Split(s, ",") {
		n, err := strconv.ParseInt(w, 10, 32)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a list of broker ids such as 1,2,3", s)
		}
		ids = append(ids, kafka.BrokerID(n))
	}
	return ids, nil
}

func formatIDs(ids []kafka.BrokerID) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(id)))
	}
	return b.String()
}
