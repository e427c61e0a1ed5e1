package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"tidemark/model/plan"
	"tidemark/scenarios"
)

func newBench() *cobra.Command {
	cmd := &cobra.Command{Use: "bench sim|serve|checker|storage", Short: "measure tidemark on this machine",
		RunE: func(*cobra.Command, []string) error { return usageError("bench takes sim, serve, checker or storage") }}
	var asJSON bool
	sim := &cobra.Command{
		Use:   "sim",
		Short: "measure the simulator on one core",
		Long: `Measure the simulator on one core: a cluster of three brokers under load (World events
a second, allocations for each), the same cluster idle (simulated seconds a second),
and the first seeds of a sweep (seeds a minute). The plans are fixed; only the machine
differs.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return benchSim(cmd.OutOrStdout(), asJSON)
		},
	}
	sim.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(sim)
	cmd.AddCommand(realBenches()...)
	return cmd
}

// The plans of bench sim.
const (
	busyPlan = `cluster brokers=3 controllers=1 lanes=1
set min.insync.replicas=2
topic t partitions=3 replicas=3
producer p acks=all linger.ms=0
producer q acks=all linger.ms=0
consumer c
wait isr t-0 = 1,2,3 within 30s
read c t from earliest
write p t 20000 every 2ms
write q t 20000 every 2ms
wait acked p = 20000 within 120s
wait acked q = 20000 within 120s
`
	idlePlan = `cluster brokers=3 controllers=1 lanes=1
sleep 20000s
`
)

// benchRow is one measurement.
type benchRow struct {
	Name               string  `json:"name"`
	Events             uint64  `json:"events"`
	SimulatedSeconds   float64 `json:"simulated_seconds"`
	Seconds            float64 `json:"seconds"`
	EventsPerSecond    float64 `json:"events_per_second"`
	AllocsPerEvent     float64 `json:"allocations_per_event"`
	BytesPerEvent      float64 `json:"bytes_per_event"`
	SimulatedPerSecond float64 `json:"simulated_seconds_per_second"`
	SeedsPerMinute     float64 `json:"seeds_per_core_minute,omitempty"` // of the sweep
}

func benchSim(out io.Writer, asJSON bool) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var rows []benchRow
	for _, b := range []struct{ name, text string }{{"busy", busyPlan}, {"idle", idlePlan}} {
		p, err := plan.Parse(b.name, b.text)
		if err != nil {
			return err
		}
		row, err := measure(b.name, p)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	row, err := measureSweep()
	if err != nil {
		return err
	}
	rows = append(rows, row)
	if asJSON {
		return printJSON(out, rows)
	}
	fmt.Fprintf(out, "one core, %s %s/%s\n\n%-6s %12s %14s %14s %14s %16s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		"", "events", "events/s", "allocs/event", "bytes/event", "simulated s/s")
	for _, r := range rows {
		fmt.Fprintf(out, "%-6s %12d %14.0f %14.2f %14.0f %16.0f\n", r.Name, r.Events, r.EventsPerSecond,
			r.AllocsPerEvent, r.BytesPerEvent, r.SimulatedPerSecond)
	}
	fmt.Fprintf(out, "\nsweep: %.0f seeds a core-minute\n", row.SeedsPerMinute)
	return nil
}

// measure runs a plan once to warm up and once for the figures.
func measure(name string, p *plan.Plan) (benchRow, error) {
	if _, err := scenarios.Run(p, scenarios.Options{Seed: defaultSeed, NoEvents: true}); err != nil {
		return benchRow{}, err
	}
	return clocked(name, func() (uint64, time.Duration, error) {
		r, err := scenarios.Run(p, scenarios.Options{Seed: defaultSeed, NoEvents: true})
		if err != nil {
			return 0, 0, err
		}
		return r.Stats.Events, r.Simulated, nil
	})
}

// sweptSeeds is how many seeds of a sweep are measured, from 1.
const sweptSeeds = 100

func measureSweep() (benchRow, error) {
	row, err := clocked("sweep", func() (events uint64, simulated time.Duration, err error) {
		err = scenarios.Sweep(context.Background(), scenarios.SweepOptions{First: 1, Last: sweptSeeds, Jobs: 1}, func(r scenarios.SeedResult) error {
			events += r.WorldEvents
			simulated += r.Simulated
			return nil
		})
		return events, simulated, err
	})
	row.SeedsPerMinute = sweptSeeds * 60 / row.Seconds
	return row, err
}

// clocked takes the figures of work that tells how many World events it handled
// and how much simulated time went by.
func clocked(name string, work func() (uint64, time.Duration, error)) (benchRow, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	n, simulated, err := work()
	seconds := time.Since(start).Seconds()
	runtime.ReadMemStats(&after)
	if err != nil {
		return benchRow{}, err
	}
	events := float64(n)
	return benchRow{Name: name, Events: n, SimulatedSeconds: simulated.Seconds(), Seconds: seconds,
		EventsPerSecond: events / seconds, AllocsPerEvent: float64(after.Mallocs-before.Mallocs) / events,
		BytesPerEvent:      float64(after.TotalAlloc-before.TotalAlloc) / events,
		SimulatedPerSecond: simulated.Seconds() / seconds}, nil
}
