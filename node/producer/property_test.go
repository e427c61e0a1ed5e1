package producer

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node/client/clienttest"
)

// fate is what a broker does with a produce request.
type fate int

const (
	acknowledge fate = iota
	refuse           // NOT_ENOUGH_REPLICAS: nothing appended
	appendAndTimeOut
	appendAndBreak // the answer is lost with the connection
	reject         // INVALID_RECORD: definite
)

// appendAll appends a request's batch to the log and returns its base offset.
func appendAll(r *clienttest.Request, log *[]string) kafka.Offset {
	base := kafka.Offset(len(*log))
	b := record.Batch(r.Body.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records)
	_ = b.Each(func(rec record.Record) error {
		*log = append(*log, string(rec.Value))
		return nil
	})
	return base
}

func (l *lane) meet(f fate, log *[]string) {
	r := l.take()
	switch f {
	case acknowledge:
		r.reply(kafka.None, appendAll(r.Request, log))
	case refuse:
		r.reply(kafka.NotEnoughReplicas, -1)
	case appendAndTimeOut:
		appendAll(r.Request, log)
		r.reply(kafka.RequestTimedOut, -1)
	case appendAndBreak:
		appendAll(r.Request, log)
		r.Break()
		l.Run()
	case reject:
		r.reply(kafka.InvalidRecord, -1)
	}
}

// Whatever a broker does: each record ends once; an acknowledged one is where
// its offset says; a failed one is nowhere; and with one request in flight the
// records first appear in the order in which they were sent.
func TestOutcomesAreTrueWhateverTheBrokerDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := start(t, 1, 1, set("linger.ms", "0"), set("batch.size", "150"), set("max.in.flight.requests.per.connection", "1"))
		var log []string
		n := rapid.IntRange(1, 8).Draw(rt, "records")
		for i := range n {
			l.send(0, strconv.Itoa(i))
			if l.Waits(clienttest.Produce) > 0 {
				l.meet(rapid.SampledFrom([]fate{acknowledge, refuse, appendAndTimeOut, appendAndBreak, reject}).Draw(rt, "fate"), &log)
			}
			l.Advance(time.Duration(rapid.IntRange(0, 500).Draw(rt, "pause")) * time.Millisecond)
		}
		for range 100 {
			if l.Waits(clienttest.Produce) > 0 {
				l.meet(acknowledge, &log)
			}
			l.Advance(100 * time.Millisecond)
		}
		if problem := judge(l, n, log); problem != "" {
			rt.Fatalf("%s; log %v, results %v", problem, log, l.results)
		}
	})
}

func judge(l *lane, n int, log []string) string {
	if len(l.results) != n || l.p.Open() != 0 {
		return fmt.Sprintf("%d of %d records have a result, %d are open", len(l.results), n, l.p.Open())
	}
	for i := range n {
		v := strconv.Itoa(i)
		r := l.results[v]
		switch {
		case r.Outcome == Acked && (int(r.Offset) >= len(log) || log[r.Offset] != v):
			return "acknowledged " + v + " is not at its offset"
		case r.Outcome == Failed && strings.Contains(" "+strings.Join(log, " ")+" ", " "+v+" "):
			return "failed " + v + " is in the log"
		}
	}
	seen := -1
	for _, v := range log {
		if i, _ := strconv.Atoi(v); i > seen+1 && l.results[strconv.Itoa(seen+1)].Outcome == Acked {
			return v + " appears before an acknowledged record that was sent earlier"
		} else if i > seen {
			seen = i
		}
	}
	return ""
}
