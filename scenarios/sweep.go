package scenarios

import (
	"context"
	"fmt"
	"time"

	"tidemark/checker"
	"tidemark/sim"
)

// SweepOptions choose the seeds of a sweep and what their plans run under.
type SweepOptions struct {
	First, Last uint64 // both inclusive
	Jobs        int    // runs at a time, from 1
	Rules       string
	Given       Given
}

// SeedResult is what a sweep keeps of one run.
type SeedResult struct {
	Seed   uint64
	Err    error // a fault of the options
	Report checker.Report
	// Faults and Conditions tell what happened in the run, by kind.
	Faults     [sim.FaultKinds]sim.FaultCount
	Conditions [Conditions]uint64
	// Sends is the number of records sent with acks=1 or all, Acked how many of
	// them were acknowledged.
	Sends, Acked int
	Events       int    // of the trace
	WorldEvents  uint64 // of the simulator
	Simulated    time.Duration
	Digest       uint64
}

// windowPerJob bounds how many results wait for the one before them.
const windowPerJob = 4

// Sweep runs the random plan of every seed, several at a time, and hands each
// result to each in the order of seeds. It ends early when the context does,
// after the runs that have begun, or with each's error. Results do not depend on
// Jobs.
func Sweep(ctx context.Context, o SweepOptions, each func(SeedResult) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type job struct {
		seed uint64
		done chan SeedResult
	}
	jobs := make(chan job)
	ordered := make(chan job, windowPerJob*o.Jobs)
	for range o.Jobs {
		go func() {
			for j := range jobs {
				j.done <- sweepSeed(j.seed, o)
			}
		}()
	}
	go func() {
		defer close(ordered)
		defer close(jobs)
		for seed := o.First; seed <= o.Last && ctx.Err() == nil; seed++ {
			j := job{seed, make(chan SeedResult, 1)}
			ordered <- j
			jobs <- j
		}
	}()
	var err error
	for j := range ordered {
		r := <-j.done
		if err != nil {
			continue // the runs that have begun
		}
		if err = r.Err; err == nil {
			err = each(r)
		}
		if err != nil {
			cancel()
		}
	}
	return err
}

// sweepSeed runs one seed's plan.
func sweepSeed(seed uint64, o SweepOptions) SeedResult {
	w := newWitness()
	r, err := Run(o.Given.OnDrawn(Random(seed)), Options{Seed: seed, Rules: o.Rules, Watch: w.observe, NoEvents: true})
	if err != nil {
		return SeedResult{Seed: seed, Err: fmt.Errorf("seed-%d: %w", seed, err)}
	}
	return SeedResult{Seed: seed, Report: r.Report, Faults: r.Stats.Faults, Conditions: w.counts, Sends: w.sends, Acked: w.acked,
		Events: w.events, WorldEvents: r.Stats.Events, Simulated: r.Simulated, Digest: r.Digest}
}
