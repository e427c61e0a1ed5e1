package simdisk

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tidemark/disk"
	"tidemark/disk/disktest"
	"tidemark/disk/faultdisk"
	"tidemark/disk/osdisk"
)

// due is a sync that the test world has to finish.
type due struct {
	at    int64
	token disk.Token
	sync  Sync
}

// world is the least that a Host needs: a clock that cost moves, and a queue of
// completions.
type world struct {
	d     *Disk
	now   int64
	steps int
	dues  []due
}

func newWorld() *world { return &world{d: New()} }

// newRealWorld is a world whose disk keeps what is durable in real files.
func newRealWorld(t interface {
	rapid.TB
	Cleanup(func())
}) *world {
	t.Helper()
	root, err := os.MkdirTemp("", "simdisk")
	must(t, err)
	files, err := osdisk.Open(root)
	must(t, err)
	t.Cleanup(func() {
		files.Close()
		os.RemoveAll(root)
	})
	b, err := faultdisk.OnFiles(files.View(func(disk.Token, error) {}))
	must(t, err)
	return &world{d: Over(b)}
}

func (w *world) Now() int64      { return w.now }
func (w *world) Charge(ns int64) { w.now += ns }
func (w *world) Step()           { w.steps++ }
func (w *world) Complete(t disk.Token, at int64, s Sync) {
	w.dues = append(w.dues, due{at, t, s})
}

// finish fires the next completion; false if a stall puts it off.
func (w *world) finish() (disktest.Completion, bool) {
	next := 0
	for i, e := range w.dues {
		if e.at < w.dues[next].at {
			next = i
		}
	}
	e := w.dues[next]
	w.now = max(w.now, e.at)
	o := w.d.Finish(e.sync, e.at)
	if o.Again != 0 {
		w.dues[next].at = o.Again
		return disktest.Completion{}, false
	}
	w.dues = slices.Delete(w.dues, next, next+1)
	return disktest.Completion{Token: e.token, Err: o.Err}, !o.Gone
}

// drain fires all completions.
func (w *world) drain() (done []disktest.Completion) {
	for len(w.dues) > 0 {
		if c, ok := w.finish(); ok {
			done = append(done, c)
		}
	}
	return done
}

// power cuts the power and boots the next life.
func (w *world) power(loss Loss, seed uint64) disk.FS {
	rng := rand.New(rand.NewPCG(seed, 0))
	w.dues = nil
	w.d.PowerLoss(loss, rng.Uint64N)
	return w.d.View("data-0", w)
}

func (w *world) digest() uint64 {
	h := fnv.New64a()
	w.d.Digest(func(p []byte) { h.Write(p) })
	return h.Sum64()
}

func TestKeepsTheDiskContract(t *testing.T) {
	disktest.Run(t, func(t *testing.T) disktest.Harness { return newWorld().harness() })
}

func TestKeepsTheDiskContractOverRealFiles(t *testing.T) {
	disktest.Run(t, func(t *testing.T) disktest.Harness { return newRealWorld(t).harness() })
}

func TestKeepsTheDiskContractWithASmallPageCache(t *testing.T) {
	disktest.Run(t, func(t *testing.T) disktest.Harness {
		w := newWorld()
		w.d.Faults().SetPageCache(0)
		return w.harness()
	})
}

func (w *world) harness() disktest.Harness {
	return disktest.Harness{
		FS:    w.d.View("data-0", w),
		Drain: w.drain,
		Crash: func() disk.FS { return w.power(faultdisk.LoseAll, 0) },
		Full: func(n int64) {
			for _, name := range w.d.Faults().Files("*") {
				p, _ := w.d.ReadFile(faultdisk.Cached, name)
				n += int64(len(p))
			}
			w.d.Faults().LimitSpace(n)
		},
		Break: func(o disktest.Operation) {
			next := faultdisk.Target{Path: "*", Op: 1}
			if o == disktest.Sync {
				w.d.Faults().FailSyncs(next, faultdisk.Keeps)
			} else {
				w.d.Faults().FailWrites(next, false)
			}
		},
	}
}
