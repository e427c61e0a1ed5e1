package reports

import (
	"fmt"

	"tidemark/checker"
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
	// gravest finding, else the one that took the most records.
	TP kafka.TopicPartition
	// PartitionFlag is the flag that asks for a partition; the picture of one of
	// several names it with the others. Empty for none.
	PartitionFlag string
}

// losses are the findings of the partition that name a lost record, violations
// first. Records that nobody was told of count only where no loss of the same
// gravity concerns one that somebody was.
func losses(rep *checker.Report, tp kafka.TopicPartition) []*checker.Finding {
	var all, acked []*checker.Finding
	for _, f := range gravestFirst(rep.Findings) {
		switch {
		case f.TP != tp || f.Lost.Seq == 0 && f.Rule != "lost-write":
		case f.Acked.Seq > 0:
			acked = append(acked, f)
			all = append(all, f)
		case f.Rule == "LeaderCompleteness":
			all = append(all, f)
		}
	}
	if len(acked) > 0 && acked[0].Verdict == all[0].Verdict {
		return acked
	}
	return all
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
