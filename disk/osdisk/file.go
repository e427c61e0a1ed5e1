package osdisk

import (
	"fmt"
	"io"
	"os"
	"sync"

	"tidemark/disk"
)

// file is one handle. Its lane calls the methods of disk.File; connections'
// writers call those of disk.Reader at the same time.
type file struct {
	v    *view
	name string // at the time of opening
	f    *os.File

	mu     sync.Mutex
	closed bool // by the lane
	uses   int  // regions that were not released and syncs that are not done
	gone   bool // f is closed
}

// ReadAt implements disk.File.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if f.closed {
		return 0, wrap("read", f.name, disk.ErrClosed)
	}
	n, err := f.f.ReadAt(p, off)
	if err == io.EOF {
		return n, err
	}
	return n, wrap("read", f.name, err)
}

// WriteAt implements disk.File.
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if f.closed {
		return 0, wrap("write", f.name, disk.ErrClosed)
	}
	n, err := f.f.WriteAt(p, off)
	return n, wrap("write", f.name, err)
}

// Truncate implements disk.File.
func (f *file) Truncate(size int64) error {
	if f.closed {
		return wrap("truncate", f.name, disk.ErrClosed)
	}
	return wrap("truncate", f.name, f.f.Truncate(size))
}

// Size implements disk.File.
func (f *file) Size() (int64, error) {
	if f.closed {
		return 0, wrap("size of", f.name, disk.ErrClosed)
	}
	info, err := f.f.Stat()
	if err != nil {
		return 0, wrap("size of", f.name, err)
	}
	return info.Size(), nil
}

// Sync implements disk.File.
func (f *file) Sync(token disk.Token) {
	if f.closed {
		f.v.syncs.ask(job{token: token, err: wrap("sync", f.name, disk.ErrClosed)})
		return
	}
	f.Retain()
	f.v.syncs.ask(job{token: token, sync: func() error {
		defer f.Release()
		return wrap("sync", f.name, f.f.Sync())
	}})
}

// Region implements disk.File.
func (f *file) Region(off int64, n int) disk.Region {
	f.Retain()
	return disk.Region{Src: f, Off: off, N: n}
}

// ReadRegion implements disk.Reader.
func (f *file) ReadRegion(p []byte, off int64) error {
	n, err := f.f.ReadAt(p, off)
	if err == io.EOF {
		return fmt.Errorf("read %q: the file ends %d bytes short: %w", f.name, len(p)-n, io.ErrUnexpectedEOF)
	}
	return wrap("read", f.name, err)
}

// Retain implements disk.Reader.
func (f *file) Retain() {
	f.mu.Lock()
	f.uses++
	f.mu.Unlock()
}

// Release implements disk.Reader.
func (f *file) Release() {
	f.mu.Lock()
	f.uses--
	last := f.last()
	f.mu.Unlock()
	if last {
		f.v.d.forget(f.f)
	}
}

// Close implements disk.File.
func (f *file) Close() error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return wrap("close", f.name, disk.ErrClosed)
	}
	f.closed = true
	last := f.last()
	f.mu.Unlock()
	if last {
		return wrap("close", f.name, f.v.d.forget(f.f))
	}
	return nil
}

// last tells, once, that nobody needs the handle any more.
func (f *file) last() bool {
	if !f.closed || f.uses > 0 || f.gone {
		return false
	}
	f.gone = true
	return true
}
