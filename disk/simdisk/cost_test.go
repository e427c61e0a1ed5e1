package simdisk

import (
	"testing"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
)

const second = int64(1_000_000_000)

// cost runs f and returns the simulated time that it took, ns.
func (w *world) cost(f func()) int64 {
	start := w.now
	f()
	return w.now - start
}

// file makes a synced file of n bytes.
func (w *world) file(t *testing.T, fs disk.FS, name string, n int) disk.File {
	t.Helper()
	f, err := fs.Create(name)
	must(t, err)
	_, err = f.WriteAt(make([]byte, n), 0)
	must(t, err)
	f.Sync(0)
	fs.SyncDir(0, "")
	w.drain()
	return f
}

func TestAStallOfTwentySecondsDelaysWritesAndSyncs(t *testing.T) {
	w := newWorld()
	fs := w.d.View("data-0", w)
	f := w.file(t, fs, "log", 100)
	f.Sync(1)
	end := w.now + 20*second
	w.d.Stall(end)

	if c := w.cost(func() { f.ReadAt(make([]byte, 100), 0) }); c >= second {
		t.Errorf("a warm read waited %d ns for a device that it does not need", c)
	}
	f.Sync(2)
	if c := w.cost(func() { f.WriteAt([]byte("late"), 0) }); c < 19*second {
		t.Errorf("a write into the stall cost %d ns", c)
	}
	if c := w.cost(func() { f.WriteAt([]byte("later"), 0) }); c >= second {
		t.Errorf("a write after the stall cost %d ns", c)
	}
	if w.dues[0].at >= end || w.dues[1].at <= end {
		t.Errorf("syncs are due at %d before and %d in the stall that ends at %d", w.dues[0].at, w.dues[1].at, end)
	}
	if o := w.d.Finish(w.dues[0].sync, w.dues[0].at); o.Again <= end {
		t.Errorf("the sync under way when the stall began came back with %+v, want a time after %d", o, end)
	}
	if s := w.d.Stats().Stall; s.Fired != 1 || s.Effective != 1 {
		t.Errorf("counted %+v", s)
	}
	w.drain()
}

func TestAStallThatNobodyMetIsNotEffective(t *testing.T) {
	w := newWorld()
	w.d.Stall(second)
	w.now = second
	w.file(t, w.d.View("data-0", w), "log", 1)
	if s := w.d.Stats().Stall; s.Fired != 1 || s.Effective != 0 {
		t.Errorf("counted %+v", s)
	}
}

func TestSyncsQueueOnTheDeviceAndCostByDirtyBytes(t *testing.T) {
	w := newWorld()
	fs := w.d.View("data-0", w)
	f := w.file(t, fs, "log", 1)
	_, err := f.WriteAt(make([]byte, 1<<20), 0)
	must(t, err)
	start := w.now
	f.Sync(1)
	fs.SyncDir(2, "")
	f.Sync(3)
	want := start + FsyncNanos + 1024*FsyncNanosPerKiB
	for i, step := range []int64{0, SyncDirNanos, FsyncNanos} {
		want += step
		if at := w.dues[i].at; at != want {
			t.Errorf("sync %d is due after %d ns, want %d", i+1, at-start, want-start)
		}
	}
}

func TestAReadIsColdOnceAfterThePowerWasCut(t *testing.T) {
	w := newWorld()
	w.file(t, w.d.View("data-0", w), "log", 100_000)
	fs := w.power(faultdisk.LoseAll, 0)
	f, err := fs.Open("log")
	must(t, err)
	region := f.Region(50_000, 10_000)
	read := func() { must(t, region.Read(make([]byte, 10_000))) }
	if c := w.cost(read); c < ColdNanos {
		t.Errorf("the first read of a region cost only %d ns", c)
	}
	if c := w.cost(read); c >= ColdNanos {
		t.Errorf("the second read cost %d ns", c)
	}
	w.d.Kill()
	f, err = w.d.View("data-0", w).Open("log")
	must(t, err)
	if c := w.cost(func() { f.ReadAt(make([]byte, 10_000), 50_000) }); c >= ColdNanos {
		t.Errorf("the page cache did not outlive the process: the read cost %d ns", c)
	}
}

func TestEveryOperationIsOneStepAndRegionsAreNone(t *testing.T) {
	w := newWorld()
	fs := w.d.View("data-0", w)
	var f disk.File
	p := make([]byte, 10)
	operations := []func(){
		func() { fs.Mkdir("dir") },
		func() { f, _ = fs.Create("log") },
		func() { f.WriteAt(p, 0) },
		func() { f.ReadAt(p, 0) },
		func() { f.Size() },
		func() { f.Truncate(5) },
		func() { f.Sync(1) },
		func() { fs.SyncDir(2, "") },
		func() { fs.List("") },
		func() { fs.Rename("log", "log2") },
		func() { fs.Remove("log2") },
		func() { fs.Open("log") },
		func() { f.Close() },
	}
	for i, op := range operations {
		before := w.steps
		if cost := w.cost(op); w.steps != before+1 || cost <= 0 {
			t.Errorf("operation %d took %d steps and %d ns", i, w.steps-before, cost)
		}
	}
	before := w.steps
	f = w.file(t, fs, "log", 10)
	made := w.steps - before
	r := f.Region(0, 10)
	must(t, r.Read(p))
	r.Release()
	if w.steps != before+made {
		t.Errorf("a region took %d steps", w.steps-before-made)
	}
}

// crashing is a host whose lane dies at its next operation.
type crashing struct{ *world }

func (crashing) Step() { panic("the lane dies here") }

func TestACrashAtAnOperationComesBeforeItsEffect(t *testing.T) {
	w := newWorld()
	w.file(t, w.d.View("data-0", w), "log", 10)
	before := w.digest()
	fs := w.d.View("data-0", crashing{w})
	for name, op := range map[string]func(){
		"create":  func() { fs.Create("x") },
		"mkdir":   func() { fs.Mkdir("x") },
		"remove":  func() { fs.Remove("log") },
		"rename":  func() { fs.Rename("log", "x") },
		"sync":    func() { fs.SyncDir(1, "") },
		"opening": func() { fs.Open("log") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s went on after the crash", name)
				}
			}()
			op()
		}()
		if w.digest() != before {
			t.Errorf("%s had an effect before the crash", name)
		}
	}
}

func TestAppendingAndReadingAllocateNothing(t *testing.T) {
	w := newWorld()
	fs := w.d.View("data-0", w)
	f := w.file(t, fs, "log", 1<<20)
	p := make([]byte, 700)
	off := int64(0)
	allocs := testing.AllocsPerRun(1000, func() {
		f.WriteAt(p, off)
		f.ReadAt(p, off)
		off += 500
	})
	w.drain()
	if allocs >= 0.5 {
		t.Errorf("%.2f allocations for a write and a read", allocs)
	}
}

func BenchmarkAppendAndRead(b *testing.B) {
	w := newWorld()
	fs := w.d.View("data-0", w)
	f, _ := fs.Create("log")
	p := make([]byte, 1000)
	b.ReportAllocs()
	for i := range b.N {
		off := int64(i%10_000) * 1000
		f.WriteAt(p, off)
		f.ReadAt(p, off)
		if i%100 == 99 {
			f.Sync(disk.Token(i))
			w.drain()
		}
	}
}
