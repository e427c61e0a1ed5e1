//go:build !js

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"tidemark/checker"
	"tidemark/checker/history"
	"tidemark/model/event"
)

// checkerBenchFlags are the flags of bench checker.
type checkerBenchFlags struct {
	load      history.Load
	porcupine time.Duration
	keep      string
	asJSON    bool
}

func newBenchChecker() *cobra.Command {
	var f checkerBenchFlags
	cmd := &cobra.Command{
		Use:   "checker",
		Short: "measure the checker on one core, and porcupine on the same history",
		Long: `Measure the checker on one core: a generated history of sends and polls that a log
explains, and one that none does, for one record was acknowledged before another was
sent that lies below it. "check" is judging alone; "file to verdict" is tidemark check in
a process of its own, whose peak memory is told. Seconds are the processor's, so that
other work on the machine counts little; JSON has those of the wall clock too.

Then porcupine judges the same operations, partition by partition, with the model in
which a send fits only at its own offset, as far as it comes within the time of
--porcupine; it takes a bit for each pair of operations of a partition.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.load.Operations < 100 || f.load.Partitions < 1 || f.load.Clients < 3 {
				return usageError("bench checker needs 100 operations, 1 partition and 3 clients at least")
			}
			return f.run(cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.load.Operations, "operations", 1_000_000, "sends and polls")
	flags.IntVar(&f.load.Partitions, "partitions", 8, "partitions")
	flags.IntVar(&f.load.Clients, "clients", 50, "producers and consumers")
	flags.DurationVar(&f.porcupine, "porcupine", 20*time.Second, "how long porcupine may search in each history; 0 leaves it out")
	flags.StringVar(&f.keep, "keep", "", "directory to keep the histories in")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// checkerRow is what was measured of one history.
type checkerRow struct {
	History     string          `json:"history"`
	Operations  int             `json:"operations"`
	Events      int             `json:"events"`
	RecordsSeen int             `json:"records_seen"`
	FileMiB     float64         `json:"file_mebibytes"`
	CheckSecs   float64         `json:"check_seconds"` // of the processor
	VerdictSecs float64         `json:"file_to_verdict_seconds"`
	WallSecs    float64         `json:"file_to_verdict_wall_seconds"`
	PeakMiB     float64         `json:"peak_mebibytes"` // of the process that went from file to verdict
	Verdict     checker.Verdict `json:"verdict"`
	Porcupine   *porcupineRow   `json:"porcupine,omitempty"`
}

func (f *checkerBenchFlags) run(out io.Writer) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	dir := f.keep
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "tidemark-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		return usageError("--keep: %w", err)
	}
	rows, err := f.measure(dir)
	if err != nil {
		return err
	}
	if f.asJSON {
		return printJSON(out, rows)
	}
	f.print(out, rows)
	return nil
}

func (f *checkerBenchFlags) print(out io.Writer, rows []checkerRow) {
	fmt.Fprintf(out, "one core, %s %s/%s; %d operations, %d partitions, %d clients\n\n%-8s %10s %13s %9s %9s %17s %9s  %s\n", runtime.Version(), runtime.GOOS,
		runtime.GOARCH, f.load.Operations, f.load.Partitions, f.load.Clients,
		"history", "events", "records seen", "file MiB", "check s", "file to verdict s", "peak MiB", "verdict")
	for _, r := range rows {
		fmt.Fprintf(out, "%-8s %10d %13d %9.0f %9.2f %17.2f %9.0f  %s\n", r.History, r.Events, r.RecordsSeen, r.FileMiB, r.CheckSecs,
			r.VerdictSecs, r.PeakMiB, r.Verdict)
	}
	for _, r := range rows {
		if p := r.Porcupine; p != nil {
			fmt.Fprintf(out, "\nporcupine, %s history: %s\n", r.History, p)
		}
	}
}

// measure takes the figures of both histories. Processes are measured first: on
// Linux the peak memory of one that is started counts what its parent had then.
func (f *checkerBenchFlags) measure(dir string) ([]checkerRow, error) {
	rows := []checkerRow{{History: "legal"}, {History: "illegal"}}
	loads := []history.Load{f.load, f.load}
	loads[1].Illegal = true
	for i := range rows {
		name := filepath.Join(dir, rows[i].History+".jsonl")
		rows[i].Operations = loads[i].Operations
		if err := writeLoad(name, loads[i], &rows[i]); err != nil {
			return nil, err
		}
		if err := fileToVerdict(name, &rows[i]); err != nil {
			return nil, err
		}
	}
	for i := range rows {
		rows[i].CheckSecs = checkSeconds(loads[i])
	}
	for i := range rows {
		if f.porcupine > 0 {
			p := porcupineOn(loads[i], f.porcupine)
			rows[i].Porcupine = &p
		}
	}
	return rows, nil
}

// writeLoad writes the history to a file.
func writeLoad(name string, load history.Load, row *checkerRow) error {
	file, err := os.Create(name)
	if err != nil {
		return usageError("%w", err)
	}
	w := history.NewWriter(file, load.Header())
	history.Generate(load, func(e *event.Event) {
		row.Events++
		row.RecordsSeen += len(e.Records)
		w.Write(e)
	})
	err = w.Flush()
	if info, e := file.Stat(); e == nil {
		row.FileMiB = float64(info.Size()) / (1 << 20)
	}
	return errors.Join(err, file.Close())
}

// checkSeconds is how long judging takes, without reading or generating. Events
// are handed over in pieces, so that the clock is asked seldom. What was left
// behind before is collected first: it is not the checker's.
func checkSeconds(load history.Load) float64 {
	runtime.GC()
	heap, done := newCollector()
	defer done()
	const piece = 8192
	c := checker.New()
	for _, e := range load.Header().Events() {
		c.Observe(&e)
	}
	events := make([]event.Event, 0, piece)
	lists := make([][]event.Record, piece)
	var spent time.Duration
	observe := func() {
		start := processorTime()
		for i := range events {
			c.Observe(&events[i])
		}
		heap.watch()
		spent += processorTime() - start
		events = events[:0]
	}
	history.Generate(load, func(e *event.Event) {
		i := len(events)
		events = append(events, *e)
		lists[i] = append(lists[i][:0], e.Records...)
		events[i].Records = lists[i]
		if len(events) == piece {
			observe()
		}
	})
	observe()
	start := processorTime()
	c.Report()
	return (spent + processorTime() - start).Seconds()
}

// processorTime is what the process has used, its garbage collector's work
// included.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("bench: the system does not tell processor time: " + err.Error())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fileToVerdict runs tidemark check on one core.
func fileToVerdict(name string, row *checkerRow) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "check", "--json", name)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	start := time.Now()
	err = cmd.Run()
	row.WallSecs = time.Since(start).Seconds()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && slices.Contains([]int{exitViolation, exitUnknown}, exit.ExitCode())) {
		return fmt.Errorf("tidemark check: %w: %s", err, strings.TrimSpace(told.String()))
	}
	row.Verdict = checker.Pass
	if exit != nil {
		row.Verdict = map[int]checker.Verdict{exitViolation: checker.Violation, exitUnknown: checker.Unknown}[exit.ExitCode()]
	}
	row.VerdictSecs = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		row.PeakMiB = float64(usage.Maxrss) / rssUnit
	}
	return nil
}

// rssUnit is how many units of ru_maxrss make a MiB: kilobytes on Linux and the
// BSDs, bytes on macOS.
var rssUnit = map[bool]float64{false: 1 << 10, true: 1 << 20}[runtime.GOOS == "darwin"]
