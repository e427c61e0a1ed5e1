//go:build !js

package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// slice is a piece of work that can be measured: it handles bytes in operations.
type slice struct {
	name              string
	bytes, operations int // bytes 0: operations are what counts
	do                func() error
	prepare           func() error // not measured; nil: nothing
	fixed             float64      // allocations that do not grow with the operations, and are not counted
}

// beside measures work and its limits in rounds, a slice of each, so that all of them
// see the same machine. Each goes first as often as the others.
func (l *benchLane) beside(rounds, batch int, work slice, limits ...slice) (storageRow, error) {
	all := append([]slice{work}, limits...)
	took := make([][]time.Duration, len(all))
	allocs := 0.0
	for round := range rounds + 1 { // the first one warms up
		for i := range all {
			select {
			case s := <-l.signals:
				return storageRow{}, usageError("bench storage was ended (%v): its files are removed", s)
			default:
			}
			k := (round + i) % len(all)
			t, n, err := all[k].measure()
			if err != nil {
				return storageRow{}, fmt.Errorf("%s on %s: %w", all[k].name, l.name, err)
			}
			if round == 0 {
				continue
			}
			took[k] = append(took[k], t)
			if k == 0 {
				allocs += n
			}
		}
	}
	t := median(took[0])
	r := storageRow{Disk: l.name, Work: work.name, BatchBytes: batch, MBs: float64(work.bytes) / t / 1e6,
		NanosPerOp: t / float64(work.operations) * 1e9, AllocsPerOp: allocs / float64(rounds*work.operations)}
	for i, x := range limits {
		t := median(took[i+1])
		limit := storageLimit{Limit: x.name, MBs: float64(x.bytes) / t / 1e6, NanosPerOp: t / float64(x.operations) * 1e9}
		limit.Share = r.MBs / limit.MBs
		if work.bytes == 0 {
			limit.Share = limit.NanosPerOp / r.NanosPerOp
		}
		r.Limits = append(r.Limits, limit)
	}
	return r, nil
}

// measure does a slice of work once.
func (s slice) measure() (took time.Duration, allocs float64, err error) {
	if s.prepare != nil {
		if err := s.prepare(); err != nil {
			return 0, 0, err
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	err = s.do()
	took = time.Since(start)
	runtime.ReadMemStats(&after)
	return took, max(float64(after.Mallocs-before.Mallocs)-s.fixed, 0), err
}

// median is in seconds.
func median(all []time.Duration) float64 {
	slices.Sort(all)
	return all[len(all)/2].Seconds()
}
