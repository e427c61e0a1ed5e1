//go:build !js

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// serveBenchFlags are the flags of bench serve.
type serveBenchFlags struct {
	seconds float64
	data    string
	peers   []string
	asJSON  bool
}

func newBenchServe() *cobra.Command {
	var f serveBenchFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "measure tidemark serve on sockets and files, and other brokers beside it",
		Long: `Measure tidemark serve, in a process of its own on loopback, with a driver that sends
requests which it encoded before: one partition, acks=all, five requests in flight; then
fetches of 1 MiB, one in flight; then single records, one in flight. With --peer the
same is measured of another broker, row by row in turn, as only figures of one run on
one machine compare. A peer that is given must be able to create topics.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			signals := make(chan os.Signal, 1)
			signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
			defer signal.Stop(signals)
			return f.run(cmd.OutOrStdout(), signals)
		},
	}
	flags := cmd.Flags()
	flags.Float64Var(&f.seconds, "seconds", 1, "how long each measurement takes")
	flags.StringVar(&f.data, "data", "", "directory for the logs; without it a temporary one")
	flags.StringArrayVar(&f.peers, "peer", nil, "another broker to measure, NAME=HOST:PORT; may be repeated")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// serveRow is one measurement of one broker.
type serveRow struct {
	Broker           string  `json:"broker"`
	Replicas         int     `json:"replicas"`
	RecordBytes      int     `json:"record_bytes"`
	BatchBytes       int     `json:"batch_bytes"`
	RecordsPerSecond float64 `json:"produced_records_per_second"`
	ProducedMBs      float64 `json:"produced_megabytes_per_second"`
	FetchedMBs       float64 `json:"fetched_megabytes_per_second"`
	LatencyMicros    float64 `json:"median_latency_microseconds"`
	LatencyP99Micros float64 `json:"latency_99_percent_microseconds"`
}

// target is a broker to measure.
type target struct {
	name, addr string
	replicas   int
}

// workload is the shape of the batches of one row.
type workload struct{ recordBytes, records int }

// workloads are small and large records, in batches of about 18 kB and 1 MB.
var workloads = []workload{{100, 163}, {100, 9000}, {1024, 17}, {1024, 976}}

func (f *serveBenchFlags) run(out io.Writer, signals <-chan os.Signal) error {
	var targets []target
	for _, p := range f.peers {
		name, addr, ok := strings.Cut(p, "=")
		if !ok {
			return usageError("--peer %s: write NAME=HOST:PORT", p)
		}
		targets = append(targets, target{name, addr, 1})
	}
	child, addr, err := f.startServe()
	if err != nil {
		return err
	}
	defer func() {
		child.Process.Signal(syscall.SIGTERM)
		child.Wait()
	}()
	targets = append([]target{{"tidemark", addr, 1}, {"tidemark", addr, 3}}, targets...)
	var rows []serveRow
	for i, w := range workloads {
		for _, t := range targets {
			select {
			case <-signals:
				return &exitError{exitUnknown, fmt.Errorf("stopped")}
			default:
			}
			row, err := measureServe(t, w, fmt.Sprintf("bench-%d-%d", i, t.replicas), time.Duration(f.seconds*float64(time.Second)))
			if err != nil {
				return usageError("%s at %s: %w", t.name, t.addr, err)
			}
			rows = append(rows, row)
		}
	}
	if f.asJSON {
		return printJSON(out, rows)
	}
	printServeRows(out, rows)
	return nil
}

// startServe runs three brokers in a child process.
func (f *serveBenchFlags) startServe() (*exec.Cmd, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	args := []string{"serve", "--brokers", "3", "--listen", "127.0.0.1:0"}
	if f.data != "" {
		args = append(args, "--data", f.data)
	}
	child := exec.Command(self, args...)
	child.Stderr = os.Stderr
	pipe, err := child.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := child.Start(); err != nil {
		return nil, "", err
	}
	buf := make([]byte, 4096)
	n, err := pipe.Read(buf)
	_, after, ok := strings.Cut(string(buf[:n]), " at ")
	if err != nil || !ok {
		child.Wait()
		return nil, "", fmt.Errorf("tidemark serve did not get ready: %q", buf[:n])
	}
	addr, _, _ := strings.Cut(after, ",")
	return child, addr, nil
}

func printServeRows(out io.Writer, rows []serveRow) {
	fmt.Fprintf(out, "%s %s/%s, %d cores\n\n%-16s %8s %7s %8s %12s %9s %9s %10s %10s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), "", "replicas", "record", "batch", "records/s", "MB/s in", "MB/s out", "median µs", "99 % µs")
	for i, r := range rows {
		if i > 0 && (r.RecordBytes != rows[i-1].RecordBytes || r.BatchBytes != rows[i-1].BatchBytes) {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%-16s %8d %7d %8d %12.0f %9.1f %9.1f %10.0f %10.0f\n", r.Broker, r.Replicas, r.RecordBytes, r.BatchBytes,
			r.RecordsPerSecond, r.ProducedMBs, r.FetchedMBs, r.LatencyMicros, r.LatencyP99Micros)
	}
}
