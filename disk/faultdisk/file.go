package faultdisk

import (
	"errors"
	"fmt"
	"io"

	"tidemark/disk"
)

// File is one open handle. Its methods fail with disk.ErrClosed once it is
// closed or the node that opened it is dead.
type File struct {
	d      *Disk
	ino    *inode
	life   uint64
	uses   int // regions that were not released
	closed bool
}

var errNegative = errors.New("negative offset or size")

func (d *Disk) handle(n *inode) *File {
	n.refs++
	n.handles++
	return &File{d: d, ino: n, life: d.life}
}

// Alive says that the node that opened the file is not dead.
func (f *File) Alive() bool { return f.life == f.d.life }

func (f *File) check() error {
	if f.closed || !f.Alive() {
		return disk.ErrClosed
	}
	return nil
}

// ReadAt reads from the cache, see disk.File.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, errNegative
	}
	n := int(min(max(f.ino.size-off, 0), int64(len(p))))
	if err := f.d.read(f.ino, p[:n], off); err != nil {
		return 0, err
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt writes to the cache, see disk.File.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, errNegative
	}
	p, refused := f.d.admit(f.ino, p, off)
	if err := f.d.fetchPartial(f.ino, off, int64(len(p))); err != nil {
		return 0, err
	}
	done := 0
	for done < len(p) {
		index, in := off/PageSize, int(off%PageSize)
		n := min(PageSize-in, len(p)-done)
		page, err := f.d.writable(f.ino, index, n == PageSize)
		if err != nil {
			return done, err
		}
		copy(page.data[in:], p[done:done+n])
		page.dirty |= sectors(in, in+n)
		done, off = done+n, off+int64(n)
		f.ino.size = max(f.ino.size, off)
		if f.d.Bounded() {
			f.d.residents.soil(f.ino, index)
		}
	}
	f.d.balance()
	return done, refused
}

// Truncate sets the size in the cache.
func (f *File) Truncate(size int64) error {
	if err := f.check(); err != nil {
		return err
	}
	if size < 0 {
		return errNegative
	}
	if err := f.d.resize(f.ino, size); err != nil {
		return err
	}
	if size < f.ino.size {
		f.d.residents.dropFrom(f.ino, (size+PageSize-1)/PageSize)
		if err := f.d.cutPages(f.ino, size); err != nil {
			return err
		}
		f.ino.cut = min(f.ino.cut, size)
		f.ino.cold = min(f.ino.cold, size)
	}
	f.ino.size = size
	return nil
}

// Size is the size in the cache, bytes.
func (f *File) Size() (int64, error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	return f.ino.size, nil
}

// Sync asks for a sync of the file and returns the dirty bytes that it covers.
// The sync of a closed file finishes with disk.ErrClosed.
func (f *File) Sync() (s Sync, dirty int64) {
	if err := f.check(); err != nil {
		return f.d.failed(err), 0
	}
	return f.d.syncFile(f.ino)
}

// Missed is the size of the pages, bytes, that a read of n bytes at off must get
// from the device: nobody used them since the machine booted, or they were
// evicted.
func (f *File) Missed(off int64, n int) int64 {
	if f.check() != nil && f.uses == 0 || !f.Alive() {
		return 0
	}
	return f.d.missing(f.ino, max(off, 0), int64(n))
}

// Fetched is the same for a write: it needs the rest of the pages that it
// overwrites in part.
func (f *File) Fetched(off int64, n int) int64 {
	if f.check() != nil {
		return 0
	}
	return f.d.partial(f.ino, max(off, 0), int64(n))
}

// Close gives the handle up; regions keep the file until they are released.
func (f *File) Close() error {
	if err := f.check(); err != nil {
		return err
	}
	f.closed = true
	return f.drop()
}

// drop lets go of the inode once neither the handle nor a region needs it.
func (f *File) drop() error {
	if !f.closed || f.uses > 0 {
		return nil
	}
	f.ino.handles--
	return f.d.release(f.ino)
}

// ReadRegion reads for a region, after Close too. It fails if the file is
// shorter now or the node that opened it is dead.
func (f *File) ReadRegion(p []byte, off int64) error {
	if f.closed && f.uses == 0 || !f.Alive() {
		return disk.ErrClosed
	}
	if off < 0 || off+int64(len(p)) > f.ino.size {
		return fmt.Errorf("region of %d bytes at %d in a file of %d bytes: %w",
			len(p), off, f.ino.size, io.ErrUnexpectedEOF)
	}
	return f.d.read(f.ino, p, off)
}

// Retain counts a region that needs the file. A file that is closed already
// cannot be kept: the region's read will fail.
func (f *File) Retain() {
	if f.Alive() && !(f.closed && f.uses == 0) {
		f.uses++
	}
}

// Release counts a region off.
func (f *File) Release() {
	if !f.Alive() || f.uses == 0 {
		return
	}
	f.uses--
	if err := f.drop(); err != nil {
		panic(fmt.Sprintf("faultdisk: the base cannot forget a file: %v", err))
	}
}
