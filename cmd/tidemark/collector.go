package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
)

// collector sets the pace of the garbage collector for a check. Nearly all that a
// check allocates stays, so the collector finds little and goes over all that is
// there each time: it is let go as slowly as the memory meant for a check allows,
// and as usual once that is used up.
type collector struct {
	live [1]metrics.Sample
	last uint64 // the live heap when the pace was set, bytes
	own  bool   // the pace is ours to set
}

// Paces (GOGC) at the most and at the least, and the heap to stay below, bytes.
const (
	slowestGC = 400
	usualGC   = 100
	roomyHeap = 800 << 20
)

// newCollector takes the pace over, unless the environment sets it. It returns
// what gives it back.
func newCollector() (c *collector, done func()) {
	c = &collector{live: [1]metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	if os.Getenv("GOGC") != "" {
		return c, func() {}
	}
	c.own = true
	before := debug.SetGCPercent(slowestGC)
	return c, func() { debug.SetGCPercent(before) }
}

// watch sets the pace by what the last collection left. Call it now and then.
func (c *collector) watch() {
	if !c.own {
		return
	}
	metrics.Read(c.live[:])
	live := c.live[0].Value.Uint64()
	if live == c.last || live == 0 {
		return
	}
	c.last = live
	pace := usualGC
	if live < roomyHeap {
		pace = int(min(max((roomyHeap-live)*100/live, usualGC), slowestGC))
	}
	debug.SetGCPercent(pace)
}
