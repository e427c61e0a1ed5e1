package checker_test

import (
	"testing"

	"tidemark/checker"
)

// longRun appends, copies, commits, acknowledges and reads n records.
func longRun(n int) *model {
	m := &model{}
	m.elect(1)
	for range n {
		m.produce()
		m.fetch(2)
		m.fetch(3)
		m.commit()
		m.fetch(2)
		m.fetch(3)
	}
	m.read("v")
	m.audit()
	return m
}

func BenchmarkCheck(b *testing.B) {
	events := longRun(20_000).events
	b.ReportAllocs()
	for b.Loop() {
		if r := checker.Check(events); r.Verdict != checker.Pass {
			b.Fatal(judged(r))
		}
	}
	b.ReportMetric(float64(len(events))*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
