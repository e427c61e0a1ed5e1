package reports

import (
	"fmt"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// Options say what a report is about.
type Options struct {
	Title string // of the run, such as a story's name
	// Replay is the command line that repeats the run; it is printed as it is.
	Replay string
	// Declared says who expected the verdict and when, such as "as R1 declares
	// for truncate=toHW"; it is printed behind the verdict. Empty for none.
	Declared string
	// TP is the partition to show; its zero value asks for the one with the
	// first finding, else the first by name that has a leader.
	TP kafka.TopicPartition
}

// subject is the partition to show; false if the run has none.
func (o Options) subject(events []event.Event, rep *checker.Report) (kafka.TopicPartition, bool) {
	if o.TP.Topic != "" {
		return o.TP, true
	}
	for i := range rep.Findings {
		if rep.Findings[i].TP.Topic != "" {
			return rep.Findings[i].TP, true
		}
	}
	var first kafka.TopicPartition
	for i := range events {
		e := &events[i]
		if e.Kind == event.BecameLeader && e.Topic != kafka.MetadataTopic && (first.Topic == "" || e.TP().Less(first)) {
			first = e.TP()
		}
	}
	return first, first.Topic != ""
}

// losses are the findings of the partition that name a lost record, first the
// acknowledged ones.
func losses(rep *checker.Report, tp kafka.TopicPartition) []*checker.Finding {
	var acked, other []*checker.Finding
	for i := range rep.Findings {
		f := &rep.Findings[i]
		switch {
		case f.TP != tp || f.Lost.Seq == 0:
		case f.Acked.Seq > 0:
			acked = append(acked, f)
		case f.Rule == "LeaderCompleteness":
			other = append(other, f)
		}
	}
	if len(acked) > 0 {
		return acked
	}
	return other
}

// duration writes a length of time in ns with two or three digits.
func duration(ns int64) string {
	switch {
	case ns < 1_000_000:
		return fmt.Sprintf("%d µs", ns/1_000)
	case ns < 10_000_000:
		return fmt.Sprintf("%.1f ms", float64(ns)/1e6)
	case ns < 1_000_000_000:
		return fmt.Sprintf("%d ms", ns/1_000_000)
	}
	return fmt.Sprintf("%.1f s", float64(ns)/1e9)
}

// seconds3 and seconds4 write an instant in seconds for the time axis.
func seconds3(ns int64) string { return fmt.Sprintf("%.3f", float64(ns)/1e9) }
func seconds4(ns int64) string { return fmt.Sprintf("%.4f", float64(ns)/1e9) }
