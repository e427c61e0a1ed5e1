package osdisk

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"tidemark/disk"
)

// LockName is the file in the root that says whose directory it is. Views do not have
// it.
const LockName = ".lock"

// Disk is one directory, held by this process until Close.
type Disk struct {
	root *os.Root
	lock *os.File

	mu    sync.Mutex
	dead  bool
	open  map[*os.File]struct{} // to close with the disk
	views []*view
}

// Open makes the directory if it is missing and takes it for this process. The
// error is one line that says what to do; it is about another process that has
// the directory, or about the directory itself.
func Open(dir string) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the log directory: %w", err)
	}
	lock, err := lockFile(filepath.Join(dir, LockName))
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("open the log directory: %w", err)
	}
	return &Disk{root: root, lock: lock, open: map[*os.File]struct{}{}}, nil
}

// View returns the disk as one lane sees it. The ends of the lane's syncs go to
// deliver, in any order, one goroutine after another or several at once; it
// must not block.
func (d *Disk) View(deliver func(token disk.Token, err error)) disk.FS {
	v := &view{d: d, syncs: syncs{deliver: deliver, dirs: map[string]*job{}}}
	d.mu.Lock()
	d.views = append(d.views, v)
	d.mu.Unlock()
	return v
}

// Close gives the directory up as the death of the process would: nothing is
// synced, syncs that have not begun never do, every file, view and region fails
// with disk.ErrClosed. It waits for the syncs that are in the kernel.
func (d *Disk) Close() error {
	d.mu.Lock()
	d.dead = true
	views, open := d.views, d.open
	d.views, d.open = nil, nil
	d.mu.Unlock()
	for _, v := range views {
		v.syncs.end()
	}
	for f := range open {
		f.Close()
	}
	d.root.Close()
	if err := d.lock.Close(); err != nil {
		return fmt.Errorf("release the log directory: %w", err)
	}
	return nil
}

// adopt notes an open file; false if the disk is closed.
func (d *Disk) adopt(f *os.File) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return false
	}
	d.open[f] = struct{}{}
	return true
}

// forget closes an open file.
func (d *Disk) forget(f *os.File) error {
	d.mu.Lock()
	delete(d.open, f)
	d.mu.Unlock()
	return f.Close()
}
