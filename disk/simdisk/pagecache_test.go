package simdisk

import (
	"testing"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
)

// small is a machine with a page cache of 64 KiB.
func small() *world {
	w := newWorld()
	w.d.Faults().SetPageCache(64 << 10)
	return w
}

func TestAReadThatTheSmallPageCacheEvictedIsColdAgain(t *testing.T) {
	w := small()
	fs := w.d.View("data-0", w)
	old, big := w.file(t, fs, "old", 8<<10), w.file(t, fs, "big", 100<<10)
	p := make([]byte, 100<<10)
	read := func(f disk.File, n int) int64 { return w.cost(func() { f.ReadAt(p[:n], 0) }) }
	read(old, 8<<10)
	if c := read(old, 8<<10); c >= ColdNanos {
		t.Errorf("a warm read cost %d ns", c)
	}
	if c := read(big, 100<<10); c < ColdNanos {
		t.Errorf("a read of more than the cache holds cost only %d ns", c)
	}
	if c, want := read(old, 8<<10), int64(ColdNanos+8*ColdNanosPerKiB); c < want {
		t.Errorf("a read after the eviction cost %d ns, want %d and more", c, want)
	}
}

func TestAColdReadHoldsUpSyncsAndOtherColdReads(t *testing.T) {
	w := small()
	fs := w.d.View("data-0", w)
	lagging, tail := w.file(t, fs, "lagging", 200<<10), w.file(t, fs, "tail", 4<<10)
	region := lagging.Region(0, 64<<10)
	_, err := tail.WriteAt([]byte("x"), 0)
	must(t, err)
	start := w.now
	device := int64(ColdNanos + 64*ColdNanosPerKiB)

	must(t, region.Read(make([]byte, 64<<10)))
	w.now = start // the lane goes on; the connection's writer has paid
	tail.Sync(1)
	if at, want := w.dues[0].at, start+device+FsyncNanos; at < want {
		t.Errorf("the sync is due after %d ns, want the cold read before it: %d", at-start, want-start)
	}
	w.now = start
	other := lagging.Region(128<<10, 4<<10)
	if c, want := w.cost(func() { must(t, other.Read(make([]byte, 4<<10))) }), device+FsyncNanos+ColdNanos; c < want {
		t.Errorf("a second cold read took %d ns, want its turn after read and sync: %d", c, want)
	}
	w.drain()
}

func TestAWriterThatDirtiesTooMuchWaitsForTheWriteBack(t *testing.T) {
	w := small()
	f := w.file(t, w.d.View("data-0", w), "log", 1)
	p := make([]byte, 4<<10)
	for i := range int64(3) {
		if c := w.cost(func() { f.WriteAt(p, i<<12) }); c >= WriteBackNanos {
			t.Errorf("page %d of sixteen cost %d ns", i+1, c)
		}
	}
	if c, want := w.cost(func() { f.WriteAt(p, 3<<12) }), int64(WriteBackNanos+16*FsyncNanosPerKiB); c < want {
		t.Errorf("the fourth dirty page of sixteen cost %d ns, want a write-back of %d", c, want)
	}
	if got, _ := w.d.ReadFile(faultdisk.Durable, "log"); len(got) != 4<<12 {
		t.Errorf("%d bytes are durable", len(got))
	}
}

func TestAnAppendToAnEvictedPageReadsItFirst(t *testing.T) {
	w := small()
	fs := w.d.View("data-0", w)
	f, big := w.file(t, fs, "log", 100), w.file(t, fs, "big", 100<<10)
	big.ReadAt(make([]byte, 100<<10), 0)
	if c := w.cost(func() { f.WriteAt([]byte("x"), 100) }); c < ColdNanos {
		t.Errorf("the write cost %d ns", c)
	}
	if c := w.cost(func() { f.WriteAt([]byte("x"), 101) }); c >= ColdNanos {
		t.Errorf("the next write cost %d ns", c)
	}
}

func TestASmallPageCacheWorksWithoutAllocating(t *testing.T) {
	w := small()
	f := w.file(t, w.d.View("data-0", w), "log", 1<<20)
	p, off := make([]byte, 700), int64(0)
	allocs := testing.AllocsPerRun(1000, func() {
		f.WriteAt(p, off)
		f.ReadAt(p, off/2)
		off += 500
	})
	if allocs >= 0.5 {
		t.Errorf("%.2f allocations for a write and a read", allocs)
	}
}

func TestTheOrderOfASmallPageCacheIsInTheDigest(t *testing.T) {
	w := small()
	f := w.file(t, w.d.View("data-0", w), "log", 8<<10)
	f.ReadAt(make([]byte, 1), 0)
	before, now := w.digest(), w.now
	f.ReadAt(make([]byte, 1), 4<<10)
	w.now = now
	if w.digest() == before {
		t.Error("which page was used last is not in the digest")
	}
}
