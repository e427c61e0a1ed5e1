//go:build !js

package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// storageBenchFlags are the flags of bench storage.
type storageBenchFlags struct {
	data   string
	mib    int
	asJSON bool
}

func newBenchStorage() *cobra.Command {
	var f storageBenchFlags
	cmd := &cobra.Command{
		Use:   "storage",
		Short: "measure the log engine on files and on the simulated disk, beside what the machine allows",
		Long: `Measure the log engine on one core, on real files and on the simulated disk: appends of
batches of 100 B, 1 KiB and 64 KiB as a partition's leader, reads in order, look-ups at
random offsets, the scan of a start after a kill, and a pass of the cleaner.

Beside each stand its physical limits, taken in turns with it, slice by slice: the same
bytes written or read on the same disk without an engine, a CRC-32C over them, and a copy
in memory. Figures are medians of the slices; the page cache holds everything.

A share is the rate of the work as a part of the limit's; where the work has less to
fetch than the limit beside it, as a look-up among large batches, it is above 1.

An operation is a batch, a read of 1 MiB, a look-up, or a record that is cleaned. What an
open allocates for a log of one batch is not counted for the batches that it scans. The
simulated disk keeps what is written to it in memory, which it takes in steps of 256 KiB:
a step is an allocation. All in all memory of some 24 times --mib is needed, and room for
half as much on the disk. A signal ends it, and its files go.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(memoryAtHand()); err != nil {
				return err
			}
			signals := make(chan os.Signal, 1)
			signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
			defer signal.Stop(signals)
			return f.run(cmd.OutOrStdout(), cmd.ErrOrStderr(), signals)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.data, "data", "", "directory for the files; without it a temporary one")
	flags.IntVar(&f.mib, "mib", 64, "size of each log, MiB, 1 to 1024")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// What a measurement needs, in MiB for each of --mib, and the most that --mib may be.
const (
	storageBenchMemory = 24
	storageBenchMost   = 1024
)

// check refuses a size that cannot be measured; atHand is the machine's free memory in
// MiB, 0 if that is not known.
func (f *storageBenchFlags) check(atHand int) error {
	if f.mib < 1 || f.mib > storageBenchMost {
		return usageError("--mib is %d: choose 1 to %d MiB", f.mib, storageBenchMost)
	}
	if need := f.mib * storageBenchMemory; atHand > 0 && need > atHand {
		return usageError("--mib is %d: that takes %d MiB of memory and %d are free, choose %d or less", f.mib, need, atHand, atHand/storageBenchMemory)
	}
	return nil
}

// memoryAtHand is how much memory can be taken without swapping, MiB; 0 where the system
// does not tell as Linux does.
func memoryAtHand() int {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), "MemAvailable:")
	words := strings.Fields(after)
	if len(words) == 0 {
		return 0
	}
	kib, _ := strconv.Atoi(words[0]) // 0 if it is none
	return kib / 1024
}

// storageRow is one measurement beside its limits.
type storageRow struct {
	Disk        string         `json:"disk"`
	Work        string         `json:"work"`
	BatchBytes  int            `json:"batch_bytes"`
	MBs         float64        `json:"megabytes_per_second"`
	NanosPerOp  float64        `json:"nanoseconds_per_operation"`
	AllocsPerOp float64        `json:"allocations_per_operation"`
	Limits      []storageLimit `json:"limits"`
}

// storageLimit is what the machine allows, measured in turns with the work.
type storageLimit struct {
	Limit      string  `json:"limit"`
	MBs        float64 `json:"megabytes_per_second"`
	NanosPerOp float64 `json:"nanoseconds_per_operation"`
	Share      float64 `json:"share_of_limit"` // that the work reaches
}

func (f *storageBenchFlags) run(out, stderr io.Writer, signals <-chan os.Signal) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // syncs have a thread of their own
	dir, err := os.MkdirTemp(f.data, "tidemark-bench-")
	if err != nil {
		return usageError("--data: %w", err)
	}
	defer os.RemoveAll(dir)
	show := newProgress(stderr, "bench storage")
	rows, err := f.measure(dir, signals, show)
	show.done()
	if err != nil {
		return err
	}
	if f.asJSON {
		return printJSON(out, rows)
	}
	fmt.Fprintf(out, "one core, %s %s/%s\n\n%-10s %-16s %8s %9s %9s %9s  %-22s %9s %9s %6s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		"disk", "work", "batch, B", "MB/s", "ns/op", "allocs/op", "limit", "MB/s", "ns/op", "share")
	for _, r := range rows {
		fmt.Fprintf(out, "%-10s %-16s %8d %9s %9.0f %9.2f", r.Disk, r.Work, r.BatchBytes, rate(r.MBs), r.NanosPerOp, r.AllocsPerOp)
		for i, x := range r.Limits {
			if i > 0 {
				fmt.Fprintf(out, "%66s", "")
			}
			fmt.Fprintf(out, "  %-22s %9s %9.0f %6.2f\n", x.Limit, rate(x.MBs), x.NanosPerOp, x.Share)
		}
	}
	return nil
}

// rate writes MB/s; a look-up has none.
func rate(megabytes float64) string {
	if megabytes == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", megabytes)
}

// measure takes all rows, on both disks.
func (f *storageBenchFlags) measure(dir string, signals <-chan os.Signal, show *progress) (rows []storageRow, err error) {
	files, err := newFileLane(dir)
	if err != nil {
		return nil, err
	}
	defer files.close()
	for _, l := range []*benchLane{files, newSimulatedLane()} {
		l.signals, l.progress = signals, show
		some, err := l.measure(f.mib << 20)
		if err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	return rows, nil
}
