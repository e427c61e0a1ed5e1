package checker_test

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// crowd is a history of many operations, made as it is observed: producers send
// to partitions in turn, each send ends a while after it began, consumers follow.
type crowd struct {
	operations, partitions, producers, consumers int
	// broken: every third record is lost, and every reader passes over it.
	broken bool
}

// observe feeds the history to a checker: half of the operations are sends, half
// are polls, and every record is read twice.
func (c crowd) observe(k *checker.Checker) {
	rng := rand.New(rand.NewPCG(1, 2))
	clients := make([]string, c.producers+c.consumers)
	for i := range clients {
		clients[i] = "client-" + strconv.Itoa(i)
	}
	seq := uint64(0)
	e := event.New(event.Profile)
	observe := func() {
		seq++
		e.Seq, e.At = seq, int64(seq)*1000
		k.Observe(&e)
	}
	type pending struct {
		attempt   uint64
		partition int32
		offset    kafka.Offset
		client    int
	}
	ends := make([]kafka.Offset, c.partitions)
	logs := make([][]uint64, c.partitions) // attempts by offset
	sent := make([]uint64, c.producers)
	position := make([][]kafka.Offset, c.consumers)
	for i := range position {
		position[i] = make([]kafka.Offset, c.partitions)
	}
	var open []pending
	polls := uint64(0)
	for op := 0; op < c.operations; op += 2 {
		p := pending{client: op / 2 % c.producers, partition: int32(rng.IntN(c.partitions))}
		sent[p.client]++
		p.attempt = uint64(p.client+1)<<32 | sent[p.client]
		p.offset = ends[p.partition]
		ends[p.partition]++
		logs[p.partition] = append(logs[p.partition], p.attempt)
		e = event.New(event.SendInvoke)
		e.Client, e.Topic, e.Partition, e.Attempt, e.Hash, e.Acks = clients[p.client], "t", p.partition, p.attempt, p.attempt*7, -1
		observe()
		if open = append(open, p); len(open) >= c.producers {
			i := rng.IntN(len(open))
			p = open[i]
			open[i] = open[len(open)-1]
			open = open[:len(open)-1]
			e = event.New(event.SendOK)
			e.Client, e.Topic, e.Partition, e.Attempt, e.Hash, e.Acks, e.Offset = clients[p.client], "t", p.partition, p.attempt, p.attempt*7, -1, p.offset
			observe()
		}
		polls++
		who, part := int(polls)%c.consumers, int32(rng.IntN(c.partitions))
		from := position[who][part]
		to := min(from+kafka.Offset(2*c.consumers), ends[part])
		e = event.New(event.PollInvoke)
		e.Client, e.Topic, e.Partition, e.Attempt = clients[c.producers+who], "t", part, 1<<60|polls
		observe()
		e = event.New(event.PollOK)
		e.Client, e.Topic, e.Partition, e.Attempt, e.Offset, e.End = clients[c.producers+who], "t", part, 1<<60|polls, from, to
		if who < 2 || op+2*c.consumers*c.partitions >= c.operations { // two consumers follow; the others look on
			for o := from; o < to; o++ {
				if a := logs[part][o]; !c.broken || a%3 != 0 {
					e.Records = append(e.Records, event.Record{Offset: o, Epoch: 1, Attempt: a, Hash: a * 7})
				}
			}
			position[who][part] = to
		} else {
			e.End = from
		}
		observe()
	}
}

// BenchmarkMillionOperations checks a million operations of 50 clients over 8
// partitions, legal and broken throughout. The time is that of taking the
// events in and judging them; making them is in it too.
func BenchmarkMillionOperations(b *testing.B) {
	for _, broken := range []bool{false, true} {
		name := "legal"
		if broken {
			name = "broken"
		}
		b.Run(name, func(b *testing.B) {
			c := crowd{operations: 1_000_000, partitions: 8, producers: 40, consumers: 10, broken: broken}
			b.ReportAllocs()
			for b.Loop() {
				k := checker.New()
				c.observe(k)
				if r := k.Report(); (r.Verdict == checker.Violation) != broken {
					b.Fatal(judged(r), explain(r))
				}
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/(1<<20), "MB-sys")
		})
	}
}
