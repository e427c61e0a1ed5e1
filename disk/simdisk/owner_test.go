package simdisk

import (
	"fmt"
	"strings"
	"testing"

	"tidemark/disk"
)

// refused runs f and fails unless it panics over a second writer.
func refused(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if text := fmt.Sprint(recover()); !strings.Contains(text, "one owning lane") {
			t.Errorf("%s by a second lane was let through: %s", what, text)
		}
	}()
	f()
}

func TestASecondWriterOfAPathPanics(t *testing.T) {
	w := newWorld()
	one, two := w.d.View("data-0", w), w.d.View("data-1", w)
	must(t, one.Mkdir("t-0"))
	w.file(t, one, "t-0/log", 10)
	w.file(t, one, "checkpoint", 10)
	w.file(t, two, "other", 10)
	f, err := two.Open("t-0/log")
	must(t, err)
	refused(t, "a write", func() { f.WriteAt([]byte("x"), 0) })
	refused(t, "a truncation", func() { f.Truncate(0) })
	refused(t, "a create", func() { two.Create("t-0/index") })
	refused(t, "a mkdir", func() { two.Mkdir("t-0/dir") })
	refused(t, "a removal", func() { two.Remove("t-0/log") })
	refused(t, "a rename", func() { two.Rename("t-0/log", "t-0/old") })
	refused(t, "a rename over a file", func() { two.Rename("other", "checkpoint") })
	refused(t, "a rename of the directory", func() { two.Rename("t-0", "t-1") })
}

func TestLanesReadAndSyncEachOthersFiles(t *testing.T) {
	w := newWorld()
	one, two := w.d.View("data-0", w), w.d.View("data-1", w)
	w.file(t, one, "log", 10)
	f, err := two.Open("log")
	must(t, err)
	_, err = f.ReadAt(make([]byte, 10), 0)
	must(t, err)
	f.Sync(1)
	two.SyncDir(2, "")
	if done := w.drain(); len(done) != 2 {
		t.Errorf("completions %v", done)
	}
}

func TestOwnershipFollowsARenameAndEndsWithTheIncarnation(t *testing.T) {
	w := newWorld()
	one, two := w.d.View("data-0", w), w.d.View("data-1", w)
	must(t, one.Mkdir("t-0"))
	must(t, one.Rename("t-0", "t-0-delete"))
	must(t, two.Mkdir("t-0"))
	refused(t, "a create in the renamed directory", func() { two.Create("t-0-delete/x") })
	w.d.Kill()
	two = w.d.View("data-1", w)
	_, err := two.Create("t-0-delete/x")
	must(t, err)
}

func TestAnUncleanPathPanics(t *testing.T) {
	w := newWorld()
	fs := w.d.View("data-0", w)
	for _, path := range []string{"/log", "dir//log", "dir/", "./log", "dir/../log"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was taken for a path", path)
				}
			}()
			fs.Create(path)
		}()
	}
	_, err := fs.List("")
	must(t, err)
	var _ disk.FS = fs
}

func TestEntriesOfASharedDirectoryHaveOwnersOfTheirOwn(t *testing.T) {
	w := newWorld()
	w.d.Share([]string{"d0"})
	one, two := w.d.View("data-0", w), w.d.View("data-1", w)
	must(t, one.Mkdir("d0"))
	must(t, one.Mkdir("d0/t-0"))
	must(t, two.Mkdir("d0/t-1"))
	w.file(t, two, "d0/t-1/log", 10)
	refused(t, "a create in another's replica", func() { one.Create("d0/t-1/index") })
	refused(t, "a removal of the shared directory", func() { two.Remove("d0") })
}
