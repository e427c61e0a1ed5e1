package main

import (
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
)

// collector lets the garbage collector rest during a check. Nearly all that a check
// allocates stays, so a collection finds little and goes over all that is there; up
// to the memory meant for a check there is none. A history that needs more gets the
// usual collector back.
type collector struct {
	live  [1]metrics.Sample
	rests bool
}

// The heap up to which nothing is collected, and the live heap from which on
// collecting at the first of them would be in vain, bytes.
const (
	restUntil = 900 << 20
	tooMuch   = 700 << 20
)

// newCollector lets the collector rest, unless the environment sets its pace. It
// returns what wakes it.
func newCollector() (c *collector, done func()) {
	c = &collector{live: [1]metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return c, func() {}
	}
	c.rests = true
	pace, limit := debug.SetGCPercent(-1), debug.SetMemoryLimit(restUntil)
	return c, func() {
		debug.SetGCPercent(pace)
		debug.SetMemoryLimit(limit)
	}
}

// watch wakes the collector once a collection has left too much. Call it now and
// then.
func (c *collector) watch() {
	if !c.rests {
		return
	}
	metrics.Read(c.live[:])
	if c.live[0].Value.Uint64() > tooMuch {
		c.rests = false
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
	}
}
