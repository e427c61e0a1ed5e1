package simdisk

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
)

// torn plays one story: a file with a synced head and an unsynced tail of eight
// sectors, whose name and a second, unsynced name lose power.
func torn(t *testing.T, loss Loss, seed uint64) (w *world, content []byte, names []string) {
	w = newWorld()
	fs := w.d.View("data-0", w)
	f := w.file(t, fs, "log", 1024)
	_, err := f.WriteAt(bytes.Repeat([]byte("x"), 4096), 1024)
	must(t, err)
	_, err = fs.Create("new")
	must(t, err)
	must(t, fs.Mkdir("dir"))
	w.power(loss, seed)
	content, err = w.d.ReadFile(faultdisk.Cached, "log")
	must(t, err)
	return w, content, w.d.Paths(faultdisk.Cached)
}

func TestLoseAllIsTheLastSyncAndLoseNoneTheCache(t *testing.T) {
	w, content, names := torn(t, faultdisk.LoseAll, 0)
	if len(content) != 1024 || len(names) != 1 {
		t.Errorf("lose all left %d bytes and %q", len(content), names)
	}
	if s := w.d.Stats().PowerLoss; s.Fired != 1 || s.Effective != 1 {
		t.Errorf("lose all counted %+v", s)
	}
	w, content, names = torn(t, faultdisk.LoseNone, 0)
	if len(content) != 5120 || len(names) != 3 {
		t.Errorf("lose none left %d bytes and %q", len(content), names)
	}
	if s := w.d.Stats().PowerLoss; s.Fired != 1 || s.Effective != 0 {
		t.Errorf("lose none counted %+v", s)
	}
}

func TestRandomLossReachesEveryKindOfDamage(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(200) {
		_, content, names := torn(t, faultdisk.LoseRandom, seed)
		tail := content[1024:]
		hole := bytes.Contains(tail, make([]byte, faultdisk.SectorSize))
		written := bytes.Contains(tail, []byte("x"))
		switch {
		case len(tail) == 0:
			seen["nothing"]++
		case len(tail) == 4096 && !hole:
			seen["everything"]++
		case len(tail) < 4096 && !hole:
			seen["cut short"]++
		case written && bytes.IndexByte(tail, 0) > bytes.LastIndexByte(tail, 'x'):
			seen["tail of zeros"]++
		case written:
			seen["scattered"]++
		default:
			seen["only zeros"]++
		}
		seen[strings.Join(names, " ")]++
	}
	for _, want := range []string{
		"nothing", "everything", "cut short", "tail of zeros", "scattered", "only zeros",
		"log", "log new", "dir/ log", "dir/ log new",
	} {
		if seen[want] < 2 {
			t.Errorf("%q came %d times in 200 losses", want, seen[want])
		}
	}
}

func TestAFileThatWasRenamedTwiceIsFoundOnceAfterAnyLoss(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(100) {
		w := newWorld()
		fs := w.d.View("data-0", w)
		w.file(t, fs, "a", 10)
		must(t, fs.Rename("a", "b"))
		must(t, fs.Rename("b", "c"))
		w.power(faultdisk.LoseRandom, seed)
		seen[strings.Join(w.d.Paths(faultdisk.Cached), " ")]++
	}
	if len(seen) != 3 || seen["a"] == 0 || seen["b"] == 0 || seen["c"] == 0 {
		t.Errorf("found %v, want a, b or c", seen)
	}
}

func TestTheSameChoicesGiveTheSameDisk(t *testing.T) {
	digests := map[uint64]bool{}
	for seed := range uint64(20) {
		first, _, _ := torn(t, faultdisk.LoseRandom, seed)
		second, _, _ := torn(t, faultdisk.LoseRandom, seed)
		if first.digest() != second.digest() {
			t.Errorf("seed %d gave two different disks", seed)
		}
		digests[first.digest()] = true
	}
	if len(digests) < 5 {
		t.Errorf("20 seeds gave only %d different disks", len(digests))
	}
}

func TestASyncThatPowerLossTookIsGone(t *testing.T) {
	w := newWorld()
	f := w.file(t, w.d.View("data-0", w), "log", 10)
	_, err := f.WriteAt([]byte("tail"), 10)
	must(t, err)
	f.Sync(1)
	s := w.dues[0].sync
	w.power(faultdisk.LoseAll, 0)
	if o := w.d.Finish(s, w.now); !o.Gone {
		t.Errorf("outcome %+v", o)
	}
	if got, _ := w.d.ReadFile(faultdisk.Durable, "log"); len(got) != 10 {
		t.Errorf("%d bytes survived, want the 10 that were synced", len(got))
	}
}

func TestTheKernelFinishesTheSyncOfAKilledProcess(t *testing.T) {
	w := newWorld()
	fs := w.d.View("data-0", w)
	f := w.file(t, fs, "log", 10)
	_, err := f.WriteAt([]byte("tail"), 10)
	must(t, err)
	f.Sync(1)
	_, err = f.WriteAt([]byte("never asked for"), 14)
	must(t, err)
	w.d.Kill()
	_, err = f.ReadAt(make([]byte, 1), 0)
	wants(t, err, disk.ErrClosed)
	_, err = fs.Open("log")
	wants(t, err, disk.ErrClosed)
	if got, _ := w.d.ReadFile(faultdisk.Cached, "log"); len(got) != 29 {
		t.Errorf("the page cache holds %d bytes after the kill, want 29", len(got))
	}
	if o := w.d.Finish(w.dues[0].sync, w.dues[0].at); o != (Outcome{}) {
		t.Errorf("outcome %+v", o)
	}
	w.power(faultdisk.LoseAll, 0)
	if got, _ := w.d.ReadFile(faultdisk.Cached, "log"); len(got) != 14 {
		t.Errorf("%d bytes survived, want the 14 that the sync covered", len(got))
	}
}

func TestKillFreesWhatOnlyTheDeadHeldOpen(t *testing.T) {
	w := newWorld()
	fs := w.d.View("data-0", w)
	empty := w.digest()
	f, err := fs.Create("log")
	must(t, err)
	_, err = f.WriteAt(make([]byte, 100_000), 0)
	must(t, err)
	region := f.Region(0, 10)
	must(t, fs.Remove("log"))
	fs.SyncDir(1, "")
	w.drain()
	w.d.Kill()
	region.Release()
	w.d.busy = 0
	if w.digest() != empty {
		t.Error("a file without a name outlived its last user")
	}
}

func TestWipeLeavesAnEmptyDisk(t *testing.T) {
	w := newWorld()
	empty := w.digest()
	fs := w.d.View("data-0", w)
	must(t, fs.Mkdir("dir"))
	w.file(t, fs, "dir/log", 10)
	w.file(t, fs, "gone", 10)
	must(t, fs.Remove("gone"))
	w.d.Wipe()
	w.d.busy = 0
	if w.digest() != empty {
		t.Errorf("the disk still has %q and %q", w.d.Paths(faultdisk.Cached), w.d.Paths(faultdisk.Durable))
	}
	w.d.Wipe()
	if s := w.d.Stats().Wipe; s.Fired != 2 || s.Effective != 1 {
		t.Errorf("counted %+v", s)
	}
}

func TestTheDigestSeesEveryPartOfTheState(t *testing.T) {
	build := func(extra func(w *world, fs disk.FS, f disk.File)) uint64 {
		w := newWorld()
		fs := w.d.View("data-0", w)
		f := w.file(t, fs, "log", 10_000)
		extra(w, fs, f)
		w.d.busy = 0
		return w.digest()
	}
	seen := map[uint64]string{}
	for _, c := range []struct {
		name string
		do   func(w *world, fs disk.FS, f disk.File)
	}{
		{"nothing", func(*world, disk.FS, disk.File) {}},
		{"a cached byte", func(_ *world, _ disk.FS, f disk.File) { f.WriteAt([]byte{1}, 5000) }},
		{"the same byte in flight", func(_ *world, _ disk.FS, f disk.File) { f.WriteAt([]byte{1}, 5000); f.Sync(1) }},
		{"the same byte durable", func(w *world, _ disk.FS, f disk.File) { f.WriteAt([]byte{1}, 5000); f.Sync(1); w.drain() }},
		{"a size", func(_ *world, _ disk.FS, f disk.File) { f.Truncate(10_001) }},
		{"a truncation and back", func(_ *world, _ disk.FS, f disk.File) { f.Truncate(1); f.Truncate(10_000) }},
		{"a cached name", func(_ *world, fs disk.FS, _ disk.File) { fs.Rename("log", "log2") }},
		{"a durable name", func(w *world, fs disk.FS, _ disk.File) { fs.Rename("log", "log2"); fs.SyncDir(1, ""); w.drain() }},
		{"a stall", func(w *world, _ disk.FS, _ disk.File) { w.d.Stall(w.now + 1) }},
	} {
		sum := build(c.do)
		if sum != build(c.do) {
			t.Errorf("%s: two equal histories have different digests", c.name)
		}
		if other, ok := seen[sum]; ok {
			t.Errorf("%q and %q have the same digest", c.name, other)
		}
		seen[sum] = c.name
	}
}

// TestAnyLossLeavesALegalTree moves directories about at random and checks that
// no file is lost or found twice whose name was durable and not removed.
func TestAnyLossLeavesALegalTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		fs := w.d.View("data-0", w)
		dirs := []string{"p", "q", "p/r", "q/s"}
		for _, d := range dirs {
			must(t, fs.Mkdir(d))
			f, err := fs.Create(d + "/id")
			must(t, err)
			_, err = f.WriteAt([]byte(d), 0)
			must(t, err)
			f.Sync(0)
		}
		for _, d := range append(dirs, "") {
			fs.SyncDir(0, d)
		}
		w.drain()
		for i := range rapid.IntRange(1, 8).Draw(t, "moves") {
			var now []string
			for _, p := range w.d.Paths(faultdisk.Cached) {
				if strings.HasSuffix(p, "/") {
					now = append(now, strings.TrimSuffix(p, "/"))
				}
			}
			from := rapid.SampledFrom(now).Draw(t, "from")
			into := rapid.SampledFrom(append(now, "")).Draw(t, "into")
			to := strings.TrimPrefix(fmt.Sprintf("%s/m%d", into, i), "/")
			if rapid.Bool().Draw(t, "reuse") {
				to = strings.TrimPrefix(into+"/"+rapid.SampledFrom([]string{"p", "q"}).Draw(t, "name"), "/")
			}
			_ = fs.Rename(from, to) // into itself or onto another: refused, no matter
			if rapid.IntRange(0, 3).Draw(t, "sync") == 0 {
				fs.SyncDir(0, into)
				w.drain()
			}
		}
		w.power(faultdisk.LoseRandom, rapid.Uint64().Draw(t, "seed"))
		var ids []string
		for _, p := range w.d.Paths(faultdisk.Cached) {
			if strings.HasSuffix(p, "/id") {
				id, err := w.d.ReadFile(faultdisk.Cached, p)
				must(t, err)
				ids = append(ids, string(id))
			}
		}
		slices.Sort(ids)
		slices.Sort(dirs)
		if !slices.Equal(ids, dirs) {
			t.Fatalf("found the directories %q, want %q: %q", ids, dirs, w.d.Paths(faultdisk.Cached))
		}
	})
}

// TestARemovedDirectoryTakesItsFilesAlong removes a tree, syncs the parent only,
// and checks that nothing of it is kept.
func TestARemovedDirectoryTakesItsFilesAlong(t *testing.T) {
	w := newWorld()
	fs := w.d.View("data-0", w)
	empty := w.digest()
	must(t, fs.Mkdir("dir"))
	f := w.file(t, fs, "dir/log", 10)
	fs.SyncDir(1, "dir")
	w.drain()
	must(t, f.Close())
	must(t, fs.Remove("dir/log"))
	must(t, fs.Remove("dir"))
	fs.SyncDir(2, "")
	w.drain()
	w.d.busy = 0
	if w.digest() != empty {
		t.Error("something of the removed directory is left")
	}
}
