package faultdisk_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
	"tidemark/disk/osdisk"
)

// tb is a test, or one try of rapid's.
type tb interface {
	rapid.TB
	Cleanup(func())
}

// onFiles is a Base in a directory of real files.
func onFiles(t tb, root string) faultdisk.Base {
	t.Helper()
	d, err := osdisk.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	b, err := faultdisk.OnFiles(d.View(func(disk.Token, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// twin is a base twice, in memory and in real files, which must give the same.
type twin struct {
	t     tb
	plain *device
	files faultdisk.Base
}

// newDisk is an empty disk on a twin.
func newDisk(t tb) *faultdisk.Disk {
	t.Helper()
	root, err := os.MkdirTemp("", "faultdisk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	return faultdisk.New(&twin{t, newDevice(), onFiles(t, root)})
}

func (b *twin) both(a, c error) error {
	b.t.Helper()
	if a != nil || c != nil {
		b.t.Fatalf("in memory %v, on files %v", a, c)
	}
	return nil
}

func (b *twin) ReadAt(i faultdisk.Inode, p []byte, off int64) error {
	b.t.Helper()
	q := bytes.Repeat([]byte{'?'}, len(p))
	err := b.both(b.plain.ReadAt(i, p, off), b.files.ReadAt(i, q, off))
	if !bytes.Equal(p, q) {
		b.t.Fatalf("file %d, %d bytes at %d: on files %q, in memory %q", i, len(p), off, q, p)
	}
	return err
}

func (b *twin) WriteAt(i faultdisk.Inode, p []byte, off int64) error {
	return b.both(b.plain.WriteAt(i, p, off), b.files.WriteAt(i, p, off))
}

func (b *twin) Truncate(i faultdisk.Inode, size int64) error {
	return b.both(b.plain.Truncate(i, size), b.files.Truncate(i, size))
}

func (b *twin) Size(i faultdisk.Inode) int64 {
	b.t.Helper()
	size := b.plain.Size(i)
	if got := b.files.Size(i); got != size {
		b.t.Fatalf("file %d has %d bytes on files, %d in memory", i, got, size)
	}
	return size
}

func (b *twin) Link(dir faultdisk.Inode, e faultdisk.Entry) error {
	return b.both(b.plain.Link(dir, e), b.files.Link(dir, e))
}

func (b *twin) Unlink(dir faultdisk.Inode, name string) error {
	return b.both(b.plain.Unlink(dir, name), b.files.Unlink(dir, name))
}

func (b *twin) List(dir faultdisk.Inode) []faultdisk.Entry {
	b.t.Helper()
	want := b.plain.List(dir)
	if got := b.files.List(dir); !slices.Equal(got, want) {
		b.t.Fatalf("directory %d lists %v on files, %v in memory", dir, got, want)
	}
	return want
}

func (b *twin) Forget(i faultdisk.Inode) error {
	return b.both(b.plain.Forget(i), b.files.Forget(i))
}

// found is every file below a root as anybody finds it, without the layer.
func found(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.Name() == osdisk.LockName {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if e.IsDir() {
			all[name+"/"] = ""
			return nil
		}
		b, err := os.ReadFile(path)
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(all, "./")
	return all
}

func wants(t *testing.T, when, root string, want map[string]string) {
	t.Helper()
	got := found(t, root)
	same := len(got) == len(want)
	for name, content := range want { // unordered: all are looked at
		there, ok := got[name]
		same = same && ok && there == content
	}
	if !same {
		t.Fatalf("%s the directory has %q, want %q", when, got, want)
	}
}

func TestRealFilesHaveWhatAPowerLossWouldLeave(t *testing.T) {
	root := t.TempDir()
	d := faultdisk.New(onFiles(t, root))
	must(t, d.Mkdir("t-0"))
	f := write(t, d, "t-0/log", "old")
	wants(t, "before any sync", root, nil)
	s, _ := f.Sync()
	finish(t, d, s, nil)
	finish(t, d, d.SyncDir("t-0"), nil)
	if got := found(t, root); len(got) != 3 { // .unnamed, the directory in it, its file
		t.Fatalf("a file in a directory without a durable name is %q", got)
	}
	finish(t, d, d.SyncDir(""), nil)
	wants(t, "with its name", root, map[string]string{"t-0/": "", "t-0/log": "old"})
	write(t, d, "t-0/log", "new")
	write(t, d, "t-0/other", "other")
	must(t, d.Rename("t-0/other", "t-0/log"))
	wants(t, "before the directory is synced", root, map[string]string{"t-0/": "", "t-0/log": "old"})
	finish(t, d, d.SyncDir("t-0"), nil)
	wants(t, "after a rename over a file that is open", root, map[string]string{"t-0/": "", "t-0/log": ""})
	reads(t, f, "new")
	s, _ = f.Sync()
	finish(t, d, s, nil)
	must(t, f.Close())
	must(t, d.PowerLoss(faultdisk.LoseAll, nil))
	wants(t, "after a power loss", root, map[string]string{"t-0/": "", "t-0/log": ""})
	must(t, d.Wipe())
	wants(t, "after a wipe", root, nil)
}

// The process that holds the cache dies, and with it the cache.
func TestTheNextProcessFindsWhatWasSyncedAndNothingWithoutAName(t *testing.T) {
	root := t.TempDir()
	d := faultdisk.New(onFiles(t, root))
	must(t, d.Mkdir("t-0"))
	must(t, d.Mkdir("t-0/deep"))
	for _, name := range []string{"t-0/deep/log", "checkpoint", "nameless"} {
		s, _ := write(t, d, name, name).Sync()
		finish(t, d, s, nil)
		if name == "checkpoint" {
			finish(t, d, d.SyncDir("t-0/deep"), nil)
			finish(t, d, d.SyncDir("t-0"), nil)
			finish(t, d, d.SyncDir(""), nil)
		}
	}
	write(t, d, "checkpoint", "unsynced")

	copied := t.TempDir()
	must(t, os.CopyFS(copied, os.DirFS(root)))
	must(t, os.Remove(filepath.Join(copied, osdisk.LockName)))
	d = faultdisk.New(onFiles(t, copied))
	if got, want := d.Paths(faultdisk.Cached), []string{"checkpoint", "t-0/", "t-0/deep/", "t-0/deep/log"}; !slices.Equal(got, want) {
		t.Fatalf("the next process finds %q, want %q", got, want)
	}
	reads(t, open(t, d, "checkpoint"), "checkpoint")
	reads(t, open(t, d, "t-0/deep/log"), "t-0/deep/log")
	s, _ := write(t, d, "t-0/deep/log", "MORE").Sync()
	finish(t, d, s, nil)
	wants(t, "in the next life", copied, map[string]string{"checkpoint": "checkpoint", "t-0/": "", "t-0/deep/": "", "t-0/deep/log": "MOREdeep/log"})
}

func TestAnErrorOfTheRealFilesIsToldByTheSync(t *testing.T) {
	root := t.TempDir()
	host, err := osdisk.Open(root)
	must(t, err)
	b, err := faultdisk.OnFiles(host.View(func(disk.Token, error) {}))
	must(t, err)
	d := faultdisk.New(b)
	s, _ := write(t, d, "log", "content").Sync()
	must(t, host.Close())
	if _, err := d.Finish(s); !errors.Is(err, disk.ErrClosed) {
		t.Fatalf("the sync gave %v", err)
	}
	if _, err := d.Finish(d.SyncDir("")); !errors.Is(err, disk.ErrClosed) {
		t.Fatalf("the sync of the directory gave %v", err)
	}
}
