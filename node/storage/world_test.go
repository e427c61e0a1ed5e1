package storage

import (
	"fmt"
	"math/rand/v2"
	"time"

	"tidemark/disk"
	"tidemark/disk/simdisk"
	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/node"
)

// world is one node's disk and the least that runs a lane on it: a clock that
// cost moves, the completions to come, and a crash before the n-th operation.
type world struct {
	t       failer
	disk    *simdisk.Disk // nil: real files that can neither fail nor lose power
	real    *realDisk     // in place of disk, or below it; nil: all is in memory
	leaves  string        // names what is left on the disk; empty: nobody asks
	over    bool
	fs      disk.FS
	syncs   *node.Syncs
	now     int64
	steps   int // operations so far in this life
	crashAt int // the operation that does not happen any more; 0: none
	dues    []due
	fail    error // what every completion delivers from now on
	timers  *node.Timers
	waits   []wait // timers that did not fire, oldest first
	ids     node.TimerID
	failed  error  // what the log told of its disk
	watch   func() // before each operation and each completion; nil: nobody
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
	Name() string
	Cleanup(func())
}

type due struct {
	token disk.Token
	at    int64
	sync  simdisk.Sync
}

// wait is a timer of the lane.
type wait struct {
	id node.TimerID
	at int64
}

// timerEnv is as much of a lane's Env as timers need.
type timerEnv struct {
	node.Env
	w *world
}

func (e timerEnv) SetTimer(d time.Duration) node.TimerID {
	e.w.ids++
	e.w.waits = append(e.w.waits, wait{e.w.ids, e.w.now + int64(d)})
	return e.w.ids
}

// advance lets time pass and fires the timers that are due.
func (w *world) advance(d time.Duration) {
	w.now += int64(d)
	due := w.waits
	w.waits = nil
	for _, x := range due {
		if x.at > w.now {
			w.waits = append(w.waits, x)
		} else {
			w.timers.Fire(x.id)
		}
	}
}

// crash is the panic that ends a life.
type crash struct{}

// boot begins a life.
func (w *world) boot() {
	w.syncs, w.dues, w.steps = node.NewSyncs(), nil, 0
	w.timers, w.waits, w.failed = node.NewTimers(timerEnv{w: w}), nil, nil
	if w.disk == nil {
		w.fs = w.real.view(w)
		return
	}
	w.fs = w.disk.View("data-0", w)
}

func (w *world) Now() int64      { return w.now }
func (w *world) Charge(ns int64) { w.now += ns }
func (w *world) Step() {
	w.look()
	w.steps++
	if w.steps == w.crashAt {
		panic(crash{})
	}
}

func (w *world) Complete(t disk.Token, at int64, s simdisk.Sync) {
	w.dues = append(w.dues, due{t, at, s})
}

// look lets a test see the disk as a crash would find it.
func (w *world) look() {
	if w.watch != nil {
		w.watch()
	}
}

// complete delivers the i-th outstanding completion.
func (w *world) complete(i int) {
	w.look()
	d := w.dues[i]
	w.dues = append(w.dues[:i:i], w.dues[i+1:]...)
	w.now = max(w.now, d.at)
	var o simdisk.Outcome
	if w.disk == nil {
		o.Err = w.real.wait(d.token)
	} else {
		o = w.disk.Finish(d.sync, w.now)
	}
	if w.fail != nil {
		o.Err = w.fail
	}
	w.syncs.Synced(d.token, o.Err)
}

// drain delivers completions, the oldest first, until none is outstanding.
func (w *world) drain() {
	for len(w.dues) > 0 {
		w.complete(0)
	}
}

// until runs a life and reports whether it crashed.
func (w *world) until(life func()) (crashed bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crash); !ok {
				panic(r)
			}
			crashed = true
		}
	}()
	life()
	return false
}

// kill ends a life, the page cache stays. What the device was asked to sync, it
// syncs or not.
func (w *world) kill() {
	if w.disk == nil {
		w.real.kill(w.t)
	} else {
		w.disk.Kill()
	}
	w.crashAt = 0
	w.boot()
}

// power ends a life with a power loss.
func (w *world) power(loss simdisk.Loss, seed uint64) {
	w.t.Helper()
	if w.disk == nil {
		w.t.Fatalf("this disk cannot lose power: ask for newFrailWorld")
	}
	w.disk.PowerLoss(loss, rand.New(rand.NewPCG(seed, 1)).Uint64N)
	w.crashAt = 0
	w.boot()
}

const dir = "orders-0"

var topicID = kafka.UUID{1, 2, 3, 15: 7}

// small is a configuration under which a few batches fill a segment.
func small() Config {
	c := DefaultConfig()
	c.SegmentBytes, c.IndexIntervalBytes = 420, 120
	return c
}

// open opens the log after a life that ended with the given recovery point.
func (w *world) open(clean bool, recoveryPoint, logStart kafka.Offset) (*Log, Recovery) {
	w.t.Helper()
	l, rec, err := Open(w.fs, dir, small(), Opening{
		Clean: clean, RecoveryPoint: recoveryPoint, LogStart: logStart, TopicID: topicID, Syncs: w.syncs, Now: 1000,
		Timers: w.timers, OnFailure: func(err error) { w.failed = err },
	})
	if err != nil {
		w.t.Fatalf("open: %v", err)
	}
	return l, rec
}

// newLog is an empty log on a new disk.
func newLog(t failer) (*world, *Log) {
	t.Helper()
	w := newWorld(t)
	l, _ := w.open(false, 0, 0)
	return w, l
}

// newFrailLog is newLog on a disk that can lose power and be broken.
func newFrailLog(t failer) (*world, *Log) {
	t.Helper()
	w := newFrailWorld(t)
	l, _ := w.open(false, 0, 0)
	return w, l
}

// batch is what a producer without idempotence sends: values of n records.
func batch(ts kafka.Timestamp, values ...string) record.Batch {
	b := record.NewBuilder(record.NoProducer())
	for i, v := range values {
		b.Append(ts+kafka.Timestamp(i), nil, []byte(v), nil)
	}
	return b.Build()
}

// replica is a batch as a leader's log holds it.
func replica(base kafka.Offset, epoch kafka.LeaderEpoch, ts kafka.Timestamp, values ...string) record.Batch {
	b := batch(ts, values...)
	b.SetBaseOffset(base)
	b.SetLeaderEpoch(epoch)
	return b
}

// lead appends n batches of one record as leader of an epoch.
func lead(t failer, l *Log, epoch kafka.LeaderEpoch, n int) {
	t.Helper()
	for range n {
		_, code, err := l.AppendAsLeader(batch(1000, fmt.Sprintf("value at %d", l.LogEnd())), epoch, 1000)
		if code != kafka.None || err != nil {
			t.Fatalf("append at %d: %s, %v", l.LogEnd(), code, err)
		}
	}
}

// retain applies retention with everything committed, which must delete n segments.
func retain(t failer, l *Log, n int) {
	t.Helper()
	l.SetHighWatermark(l.LogEnd())
	if deleted, err := l.DeleteOldSegments(1000); deleted != n || err != nil {
		t.Fatalf("retention deleted %d segments, want %d: %v", deleted, n, err)
	}
}

// content is every batch of a log, in order.
func content(t failer, l *Log) (out []record.Batch) {
	t.Helper()
	for o := l.LogStart(); o < l.LogEnd(); {
		buf, err := l.ReadBatches(o, 1<<20)
		if err != nil || len(buf) == 0 {
			t.Fatalf("read from %d of %d: %d bytes, %v", o, l.LogEnd(), len(buf), err)
		}
		for len(buf) > 0 {
			b, rest, err := record.Next(buf)
			if err != nil || b.Check() != nil {
				t.Fatalf("batch at %d: %v, %v", o, err, b.Check())
			}
			out = append(out, b)
			o, buf = b.NextOffset(), rest
		}
	}
	return out
}

// text tells what batches hold, for comparisons: base/epoch/CRC each.
func text(batches []record.Batch) []string {
	out := make([]string, len(batches))
	for i, b := range batches {
		out[i] = fmt.Sprintf("%d-%d epoch %d crc %08x", b.BaseOffset(), b.LastOffset(), b.LeaderEpoch(), b.CRC())
	}
	return out
}
