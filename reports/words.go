package reports

import (
	"slices"
	"strconv"
	"strings"

	"tidemark/model/kafka"
)

func num(n int64) string { return strconv.FormatInt(n, 10) }

// ids writes 1,2,3, or none.
func ids(bs []kafka.BrokerID) string {
	if len(bs) == 0 {
		return "none"
	}
	var b strings.Builder
	for i, id := range bs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(num(int64(id)))
	}
	return b.String()
}

// Brokers have ids from 1 and controllers from 101, clients higher ones.
const (
	firstController kafka.BrokerID = 101
	firstClient     kafka.BrokerID = 1000
)

// nodeName writes broker 1, controller 101.
func nodeName(n kafka.BrokerID) string {
	switch {
	case n >= firstClient:
		return "client " + num(int64(n))
	case n >= firstController:
		return "controller " + num(int64(n))
	}
	return "broker " + num(int64(n))
}

// bothWays joins a fault of one direction with the same one of the other:
// cut 1 -> 2 and cut 2 -> 1 are cut 1 <-> 2.
func bothWays(a, b string) (string, bool) {
	there, back := strings.Fields(a), strings.Fields(b)
	n := len(there)
	if n < 4 || len(back) != n || there[n-2] != "->" || back[n-2] != "->" || there[n-3] != back[n-1] || there[n-1] != back[n-3] {
		return "", false
	}
	if !slices.Equal(there[:n-3], back[:n-3]) {
		return "", false
	}
	there[n-2] = "<->"
	return strings.Join(there, " "), true
}

// together joins what befell two nodes at one moment: kill broker 1 and kill
// broker 2 are kill brokers 1,2.
func together(a, b string) (string, bool) {
	one, other := strings.Fields(a), strings.Fields(b)
	if len(one) != 3 || len(other) != 3 || one[0] != other[0] || !strings.HasPrefix(one[1], "broker") || other[1] != "broker" {
		return "", false
	}
	return one[0] + " brokers " + one[2] + "," + other[2], true
}

// reasons are the words for how the events of a log say why.
var reasons = []struct{ reason, words string }{
	{"to-hw", "to its high watermark"},
	{"diverging", "where the logs part"},
	{"out-of-range", "to where the leader's log lies"},
	{"clean", "after a clean stop"},
	{"unclean", "after an unclean stop"},
}

// inWords writes why a log was cut or opened, behind a separator; a reason
// without words of its own stays as it is.
func inWords(separator, reason string) string {
	if reason == "" {
		return ""
	}
	for _, r := range reasons {
		if reason == r.reason {
			return separator + r.words
		}
	}
	if cut, ok := strings.CutPrefix(reason, "unclean cut at "); ok {
		return inWords(separator, "unclean") + ", cut at byte " + cut
	}
	return separator + reason
}

// explained puts the words for the reasons of truncations in place of those that
// a finding's sentence quotes in brackets.
func explained(sentence string) string {
	for _, r := range reasons[:3] {
		sentence = strings.ReplaceAll(sentence, "("+r.reason+")", "("+r.words+")")
	}
	return sentence
}

func words(s string) []string { return strings.Fields(s) }
