package storage

import (
	"errors"
	"fmt"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
)

// Cleaner compacts the logs of one lane whose cleanup.policy has compact, the
// filthiest first, one at a time: what is left has the last record of each key.
// It is one thread of Kafka's log cleaner, without the thread: whoever owns the
// timers calls Step.
//
//	choose ─▶ map the keys of the dirty part ─▶ copy what stays, group by group ─▶ note the end
//	  ▲  as many as fit            └─ .cleaned, .swap, rename ┘                       │
//	  └───────────────────────────── apply retention ◀─────────────────────────────────┘
//
// A log goes on being appended to and read between steps. What takes a segment
// from it ends the pass: a step never finds less than the pass began with.
type Cleaner struct {
	cfg   CleanerConfig
	rules rules.Cleaner
	host  CleanerHost
	keys  *offsetMap
	pass  *pass // nil between passes
	idle  bool  // Step is to be called on CleanerWake alone

	buf, out []byte // that a step reads into, and what it writes
	builder  record.Builder
}

// CleanerHost is the lane that the cleaner works for.
type CleanerHost interface {
	// CleanerLogs are the lane's open logs, in an order that does not change
	// between calls but for logs that come and go.
	CleanerLogs() []*Log
	// CheckpointRecoveryPoint writes the log's recovery point to the checkpoint of
	// its log directory, and runs done when that is durable.
	CheckpointRecoveryPoint(l *Log, done func())
	// Cleaned tells that a pass ended, and that the log's CleanedUpTo is to be
	// written to the cleaner's checkpoint.
	Cleaned(l *Log, s CleanerStats)
	// CleanerWake tells that what Step waits for is there, once for each time that
	// Step returned -1.
	CleanerWake()
}

// CleanerStats is what a pass did.
type CleanerStats struct {
	// FirstDirty and End are the stretch whose keys were mapped; the pass could
	// have gone up to FirstUncleanable, but for the map's size.
	FirstDirty, FirstUncleanable, End kafka.Offset
	RecordsRead, RecordsKept          int64
	BytesRead, BytesKept              int64
	// Invalid are the records without a key, which a compacted log drops.
	Invalid                       int64
	SegmentsBefore, SegmentsAfter int
}

// NewCleaner returns a cleaner that has nothing under way.
func NewCleaner(c CleanerConfig, r rules.Cleaner, host CleanerHost) *Cleaner {
	c.IOBufferBytes = max(c.IOBufferBytes, minIOBuffer)
	keys := newOffsetMap(c.DedupeBufferBytes, c.LoadFactor)
	if keys.limit < 1 {
		panic(fmt.Sprintf("storage: the cleaner's map has no room for a key: %d bytes, %d millionths full", c.DedupeBufferBytes, c.LoadFactor))
	}
	return &Cleaner{cfg: c, rules: r, host: host, keys: keys}
}

// What Step returns besides a time.
const (
	stepAgain  = 0  // as soon as other work of the lane was served
	stepOnWake = -1 // after CleanerWake
)

// Step does a bounded piece of work, one buffer at most, at wall time now in ms,
// and returns after how many ms it wants to be called again; -1 means once
// CleanerWake was called. An error of a disk makes the log fail. A log with
// damage that only the cleaner met is left alone until it is opened again.
func (c *Cleaner) Step(now kafka.Timestamp) (waitMs int64) {
	c.idle = false
	if c.pass == nil {
		if c.pass = c.choose(now); c.pass == nil {
			c.applyRetention(now)
			return c.cfg.BackoffMs
		}
		return stepAgain
	}
	p := c.pass
	switch {
	case p.over:
		c.pass = nil
		c.keys.clear()
		c.applyRetention(now)
		return stepAgain
	case p.waiting:
		c.idle = true
		return stepOnWake
	}
	moved, err := p.phase(p)
	if err != nil {
		p.fail(err)
		return stepAgain
	}
	if p.waiting {
		c.idle = true
		return stepOnWake
	}
	return moved * 1000 / c.cfg.MaxBytesPerSecond
}

// choose begins a pass over the filthiest of the logs that want one, nil if none
// does.
func (c *Cleaner) choose(now kafka.Timestamp) *pass {
	var best dirtyRange
	for _, l := range c.host.CleanerLogs() {
		if !l.cfg.Compacted || l.failed != nil || l.closed || l.uncleanable || l.cleaning != nil || l.swap != nil {
			continue
		}
		r, err := l.dirtyRange(c.rules.Bound, now)
		if err != nil {
			l.uncleanable = l.damaged(err)
			continue
		}
		if r.wants() && (best.log == nil || r.filthier(best)) {
			best = r
		}
	}
	if best.log == nil {
		return nil
	}
	return c.begin(best, now)
}

// restoreBuffer gives up buffers that grew for a large batch.
func (c *Cleaner) restoreBuffer() {
	if cap(c.buf) > int(c.cfg.IOBufferBytes) {
		c.buf, c.out = nil, nil
	}
}

// applyRetention deletes old segments of compacted logs, as Kafka's cleaner thread
// does after every pass: others are the retention timer's.
func (c *Cleaner) applyRetention(now kafka.Timestamp) {
	for _, l := range c.host.CleanerLogs() {
		if l.cfg.Compacted && l.failed == nil && !l.closed && !l.uncleanable {
			_, _ = l.DeleteOldSegments(now) // an error is the log's, which has failed
		}
	}
}

// damaged tells bytes that no writer left from an error of the disk, which makes
// the log fail.
func (l *Log) damaged(err error) bool {
	if errors.Is(err, record.ErrCorrupt) || errors.Is(err, record.ErrTruncated) || errors.Is(err, record.ErrCompressed) || errors.Is(err, errTooLarge) {
		return true
	}
	_ = l.failing("clean", err)
	return false
}
