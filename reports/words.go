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

func words(s string) []string { return strings.Fields(s) }
