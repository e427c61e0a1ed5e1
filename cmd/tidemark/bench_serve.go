//go:build !js

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
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
same is measured of another broker, as only figures of one run on one machine compare:
the brokers take turns, slice by slice, and a figure is the median of its slices. A peer
must be able to create topics. The last columns are the processor time that the broker
itself takes, which says more than its speed on a machine that others use too; of a peer
they are known if its process is.`,
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
	flags.StringArrayVar(&f.peers, "peer", nil, "another broker to measure, NAME=HOST:PORT[,PID]; may be repeated")
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
	// Processor seconds of the broker's process; left out if it is not known.
	ProduceCPU float64 `json:"produce_processor_seconds_per_gigabyte,omitempty"`
	FetchCPU   float64 `json:"fetch_processor_seconds_per_gigabyte,omitempty"`
}

// target is a broker to measure.
type target struct {
	name, addr string
	replicas   int
	pid        int // of its process; 0: not known
}

// blame says whose error it is.
func (t target) blame(err error) error { return usageError("%s at %s: %w", t.name, t.addr, err) }

// parsePeer reads NAME=HOST:PORT[,PID].
func parsePeer(text string) (target, error) {
	name, rest, ok := strings.Cut(text, "=")
	addr, number, known := strings.Cut(rest, ",")
	t := target{name: name, addr: addr, replicas: 1}
	var err error
	if known {
		t.pid, err = strconv.Atoi(number)
	}
	if !ok || err != nil {
		return t, usageError("--peer %s: write NAME=HOST:PORT or NAME=HOST:PORT,PID", text)
	}
	return t, nil
}

// workload is the shape of the batches of one row.
type workload struct{ recordBytes, records int }

// workloads are small and large records, in batches of about 18 kB and 1 MB.
var workloads = []workload{{100, 163}, {100, 9000}, {1024, 17}, {1024, 976}}

func (f *serveBenchFlags) run(out io.Writer, signals <-chan os.Signal) error {
	var peers []target
	for _, p := range f.peers {
		t, err := parsePeer(p)
		if err != nil {
			return err
		}
		peers = append(peers, t)
	}
	child, addr, err := f.startServe()
	if err != nil {
		return err
	}
	defer func() {
		child.Process.Signal(syscall.SIGTERM)
		child.Wait()
	}()
	pid := child.Process.Pid
	targets := append([]target{{"tidemark", addr, 1, pid}, {"tidemark", addr, 3, pid}}, peers...)
	stopped := func() error {
		select {
		case <-signals:
			return &exitError{exitUnknown, fmt.Errorf("stopped")}
		default:
			return nil
		}
	}
	var rows []serveRow
	for i, w := range workloads {
		more, err := contest(targets, w, fmt.Sprintf("bench-%d", i), time.Duration(f.seconds*float64(time.Second)), stopped)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	if f.asJSON {
		return printJSON(out, rows)
	}
	printServeRows(out, rows)
	return nil
}

// startServe runs three brokers in a child process. With Kafka's own session time-out
// no broker is fenced for what a busy machine holds up.
func (f *serveBenchFlags) startServe() (*exec.Cmd, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	args := []string{"serve", "--brokers", "3", "--listen", "127.0.0.1:0",
		"--set", "broker.session.timeout.ms=9000", "--set", "broker.heartbeat.interval.ms=2000"}
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
	fmt.Fprintf(out, "%s %s/%s, %d cores\n\n%-16s %8s %7s %8s %12s %9s %9s %10s %8s %9s %9s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), "", "replicas", "record", "batch", "records/s", "MB/s in", "MB/s out", "median µs", "99 % µs", "s/GB in", "s/GB out")
	for i, r := range rows {
		if i > 0 && (r.RecordBytes != rows[i-1].RecordBytes || r.BatchBytes != rows[i-1].BatchBytes) {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%-16s %8d %7d %8d %12.0f %9.1f %9.1f %10.0f %8.0f %9s %9s\n", r.Broker, r.Replicas, r.RecordBytes, r.BatchBytes,
			r.RecordsPerSecond, r.ProducedMBs, r.FetchedMBs, r.LatencyMicros, r.LatencyP99Micros, seconds(r.ProduceCPU), seconds(r.FetchCPU))
	}
}

// seconds is a figure that may not be known.
func seconds(s float64) string {
	if s == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", s)
}
