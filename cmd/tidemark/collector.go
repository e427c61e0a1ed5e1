package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
)

// collector sets the pace of the garbage collector for a check. Nearly all that a
// check allocates stays, so the collector finds little and goes over all that is
// there each time: it is let go slowly while the heap is small, and as usual once
// going slowly could take a gigabyte.
type collector struct {
	live  [1]metrics.Sample
	ample bool
}

// Paces (GOGC) while there is ample memory and after, and the live heap in between,
// bytes.
const (
	ampleGC  = 400
	usualGC  = 100
	ampleTop = 192 << 20
)

// newCollector takes the pace over, unless the environment sets it. It returns
// what gives it back.
func newCollector() (c *collector, done func()) {
	c = &collector{live: [1]metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	if os.Getenv("GOGC") != "" {
		return c, func() {}
	}
	c.ample = true
	before := debug.SetGCPercent(ampleGC)
	return c, func() { debug.SetGCPercent(before) }
}

// watch sees whether memory is still ample. Call it now and then.
func (c *collector) watch() {
	if !c.ample {
		return
	}
	if metrics.Read(c.live[:]); c.live[0].Value.Uint64() > ampleTop {
		c.ample = false
		debug.SetGCPercent(usualGC)
	}
}
