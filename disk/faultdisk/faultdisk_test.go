package faultdisk_test

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"testing"

	"tidemark/disk"
	"tidemark/disk/faultdisk"
)

// device is the simplest base, with a switch for errors.
type device struct {
	bytes map[faultdisk.Inode][]byte
	names map[faultdisk.Inode][]faultdisk.Entry
	fails error // of every read and write
}

func newDevice() *device {
	return &device{bytes: map[faultdisk.Inode][]byte{}, names: map[faultdisk.Inode][]faultdisk.Entry{}}
}

func (d *device) ReadAt(i faultdisk.Inode, p []byte, off int64) error {
	clear(p)
	if b := d.bytes[i]; off < int64(len(b)) {
		copy(p, b[off:])
	}
	return d.fails
}

func (d *device) WriteAt(i faultdisk.Inode, p []byte, off int64) error {
	if d.fails != nil {
		return d.fails
	}
	if end := off + int64(len(p)); end > d.Size(i) {
		d.Truncate(i, end)
	}
	copy(d.bytes[i][off:], p)
	return nil
}

func (d *device) Truncate(i faultdisk.Inode, size int64) error {
	next := make([]byte, size)
	copy(next, d.bytes[i])
	d.bytes[i] = next
	return nil
}

func (d *device) Size(i faultdisk.Inode) int64 { return int64(len(d.bytes[i])) }

func (d *device) Link(dir faultdisk.Inode, e faultdisk.Entry) error {
	if d.fails != nil {
		return d.fails
	}
	d.Unlink(dir, e.Name)
	d.names[dir] = append(d.names[dir], e)
	slices.SortFunc(d.names[dir], func(a, b faultdisk.Entry) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

func (d *device) Unlink(dir faultdisk.Inode, name string) error {
	d.names[dir] = slices.DeleteFunc(d.names[dir], func(e faultdisk.Entry) bool { return e.Name == name })
	return nil
}

func (d *device) List(dir faultdisk.Inode) []faultdisk.Entry { return d.names[dir] }

func (d *device) Forget(i faultdisk.Inode) error {
	delete(d.bytes, i)
	delete(d.names, i)
	return nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// write makes or changes a file and returns its handle.
func write(t *testing.T, d *faultdisk.Disk, name, content string) *faultdisk.File {
	t.Helper()
	f, err := d.Open(name)
	if errors.Is(err, disk.ErrNotExist) {
		f, err = d.Create(name)
	}
	must(t, err)
	_, err = f.WriteAt([]byte(content), 0)
	must(t, err)
	return f
}

func finish(t *testing.T, d *faultdisk.Disk, s faultdisk.Sync, want error) {
	t.Helper()
	known, err := d.Finish(s)
	if !known || !errors.Is(err, want) {
		t.Fatalf("the sync finished with known=%v, %v; want %v", known, err, want)
	}
}

func read(t *testing.T, d *faultdisk.Disk, side faultdisk.Side, name string) string {
	t.Helper()
	p, err := d.ReadFile(side, name)
	must(t, err)
	return string(p)
}

func TestADiskBeginsWithWhatItsBaseHolds(t *testing.T) {
	base := newDevice()
	d := faultdisk.New(base)
	must(t, d.Mkdir("dir"))
	s, _ := write(t, d, "dir/log", "kept").Sync()
	finish(t, d, s, nil)
	finish(t, d, d.SyncDir(""), nil)
	finish(t, d, d.SyncDir("dir"), nil)
	write(t, d, "dir/log", "lost with the process, as the cache was in it")

	next := faultdisk.New(base)
	if got := read(t, next, faultdisk.Cached, "dir/log"); got != "kept" {
		t.Errorf("the file holds %q", got)
	}
	for _, name := range []string{"a", "b", "c"} {
		s, _ := write(t, next, name, name).Sync()
		finish(t, next, s, nil)
	}
	if got := read(t, next, faultdisk.Durable, "dir/log"); got != "kept" {
		t.Errorf("a new file took the inode of an old one, which holds %q", got)
	}
}

// After a failed fsync Linux marks the pages clean: readers go on seeing the
// bytes, a second fsync succeeds, and a power loss shows the truth.
func TestAFailedSyncLosesItsWritesAndHidesIt(t *testing.T) {
	base := newDevice()
	d := faultdisk.New(base)
	f := write(t, d, "log", "old")
	s, _ := f.Sync()
	finish(t, d, s, nil)
	finish(t, d, d.SyncDir(""), nil)

	write(t, d, "log", "new")
	s, _ = f.Sync()
	base.fails = disk.ErrIO
	finish(t, d, s, disk.ErrIO)
	base.fails = nil
	if got := read(t, d, faultdisk.Cached, "log"); got != "new" {
		t.Errorf("readers see %q", got)
	}
	s, dirty := f.Sync()
	finish(t, d, s, nil)
	if dirty != 0 {
		t.Errorf("the second sync found %d dirty bytes", dirty)
	}
	must(t, d.PowerLoss(faultdisk.LoseNone, nil))
	if got := read(t, d, faultdisk.Cached, "log"); got != "old" {
		t.Errorf("after the power loss the file holds %q", got)
	}
}

func TestAFailedSyncFailsTheLaterOneThatItIsPartOf(t *testing.T) {
	base := newDevice()
	d := faultdisk.New(base)
	f := write(t, d, "log", "one")
	first, _ := f.Sync()
	second, _ := f.Sync()
	base.fails = disk.ErrIO
	finish(t, d, second, disk.ErrIO)
	finish(t, d, first, disk.ErrIO)
}

func TestAFailedDirectorySyncIsTold(t *testing.T) {
	base := newDevice()
	d := faultdisk.New(base)
	write(t, d, "log", "")
	s := d.SyncDir("")
	base.fails = disk.ErrIO
	finish(t, d, s, disk.ErrIO)
}

func TestALossIsEffectiveOnlyIfReadersCanTell(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(d *faultdisk.Disk, f *faultdisk.File)
		want uint64
	}{
		{"nothing unsynced", func(*faultdisk.Disk, *faultdisk.File) {}, 0},
		{"other bytes", func(_ *faultdisk.Disk, f *faultdisk.File) { f.WriteAt([]byte("new"), 0) }, 1},
		{"the same bytes again", func(_ *faultdisk.Disk, f *faultdisk.File) { f.WriteAt([]byte("old"), 0) }, 0},
		{"another size", func(_ *faultdisk.Disk, f *faultdisk.File) { f.Truncate(10) }, 1},
		{"cut and grown back", func(_ *faultdisk.Disk, f *faultdisk.File) { f.Truncate(0); f.Truncate(3) }, 1},
		{"a name", func(d *faultdisk.Disk, _ *faultdisk.File) { d.Mkdir("dir") }, 1},
		{"bytes of a removed file", func(d *faultdisk.Disk, f *faultdisk.File) {
			d.Remove("log")
			finish(t, d, d.SyncDir(""), nil)
			f.WriteAt([]byte("new"), 0)
		}, 0},
	} {
		d := newDisk(t)
		f := write(t, d, "log", "old")
		s, _ := f.Sync()
		finish(t, d, s, nil)
		finish(t, d, d.SyncDir(""), nil)
		c.do(d, f)
		must(t, d.PowerLoss(faultdisk.LoseAll, nil))
		if got := d.Stats().PowerLoss; got.Fired != 1 || got.Effective != c.want {
			t.Errorf("%s: counted %+v, want effective %d", c.name, got, c.want)
		}
	}
}

func TestADeviceErrorReachesTheReader(t *testing.T) {
	base := newDevice()
	d := faultdisk.New(base)
	f := write(t, d, "log", "old")
	s, _ := f.Sync()
	finish(t, d, s, nil)
	base.fails = disk.ErrIO
	if _, err := f.ReadAt(make([]byte, 3), 0); !errors.Is(err, disk.ErrIO) {
		t.Errorf("reading gave %v", err)
	}
	if n, err := f.WriteAt([]byte("x"), 1); n != 0 || !errors.Is(err, disk.ErrIO) {
		t.Errorf("writing into a page that cannot be fetched gave %d, %v", n, err)
	}
	base.fails = nil
	p := make([]byte, 4)
	if n, err := f.ReadAt(p, 0); string(p[:n]) != "old" || err != io.EOF {
		t.Errorf("later the file holds %q, %v", p[:n], err)
	}
}

func TestTheSizeOfASyncIsTheSectorsThatChangedSinceTheLast(t *testing.T) {
	d := newDisk(t)
	f := write(t, d, "log", "x")
	_, err := f.WriteAt(make([]byte, 2), 10*faultdisk.SectorSize-1)
	must(t, err)
	if _, dirty := f.Sync(); dirty != 3*faultdisk.SectorSize {
		t.Errorf("%d dirty bytes, want three sectors", dirty)
	}
	write(t, d, "log", "y")
	if _, dirty := f.Sync(); dirty != faultdisk.SectorSize {
		t.Errorf("%d dirty bytes, want one sector", dirty)
	}
}
