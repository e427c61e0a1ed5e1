package simdisk

import (
	"tidemark/disk"
	"tidemark/disk/faultdisk"
)

// file is the disk.File of one lane: a handle of faultdisk with cost and count.
// Its Retain and Release are the handle's own.
type file struct {
	*faultdisk.File
	v     *view
	name  string          // at the time of opening
	top   faultdisk.Inode // what the name leads through in the root
	owned bool            // the lane owns top
}

// begin counts an operation and charges it; false if the incarnation is over.
func (f *file) begin() bool { return f.Alive() && f.v.begin() }

// own claims the path on the first change through this handle.
func (f *file) own() {
	if !f.owned {
		f.v.d.claim(f.v.lane, f.top, f.name)
		f.owned = true
	}
}

// read charges a read of n bytes at off.
func (f *file) read(off int64, n int) {
	cost := ReadNanos + perKiB(ReadNanosPerKiB, int64(n))
	if missed := f.Missed(off, n); missed > 0 {
		f.v.cold(cost, missed)
		return
	}
	f.v.host.Charge(cost)
}

// ReadAt implements disk.File.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if !f.begin() {
		return 0, disk.ErrClosed
	}
	f.read(off, len(p))
	return f.File.ReadAt(p, off)
}

// WriteAt implements disk.File.
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if !f.begin() {
		return 0, disk.ErrClosed
	}
	f.own()
	f.v.pay(WriteNanos + perKiB(WriteNanosPerKiB, int64(len(p))))
	if !f.v.d.fd.Bounded() {
		return f.File.WriteAt(p, off)
	}
	if missed := f.Fetched(off, len(p)); missed > 0 {
		f.v.cold(0, missed)
	}
	n, err := f.File.WriteAt(p, off)
	f.v.writeBack(f.v.d.fd.Forced())
	return n, err
}

// Truncate implements disk.File.
func (f *file) Truncate(size int64) error {
	if !f.begin() {
		return disk.ErrClosed
	}
	f.own()
	f.v.pay(MetadataNanos)
	return f.File.Truncate(size)
}

// Size implements disk.File.
func (f *file) Size() (int64, error) {
	if !f.begin() {
		return 0, disk.ErrClosed
	}
	f.v.host.Charge(CallNanos)
	return f.File.Size()
}

// Sync implements disk.File.
func (f *file) Sync(token disk.Token) {
	if !f.begin() {
		return
	}
	s, dirty := f.File.Sync()
	f.v.complete(token, s, FsyncNanos+perKiB(FsyncNanosPerKiB, dirty))
}

// Region implements disk.File.
func (f *file) Region(off int64, n int) disk.Region {
	f.Retain()
	return disk.Region{Src: f, Off: off, N: n}
}

// ReadRegion implements disk.Reader. It is no operation of the lane; the event
// of the socket write pays for it.
func (f *file) ReadRegion(p []byte, off int64) error {
	if !f.Alive() {
		return disk.ErrClosed
	}
	f.read(off, len(p))
	return f.File.ReadRegion(p, off)
}

// Close implements disk.File.
func (f *file) Close() error {
	if !f.begin() {
		return disk.ErrClosed
	}
	f.v.host.Charge(CallNanos)
	return f.File.Close()
}
