package osdisk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"tidemark/disk"
)

// view is the disk.FS of one lane.
type view struct {
	d     *Disk
	syncs syncs
}

var errTaken = errors.New("the target exists and is no file that could be replaced")

// path gives a contract's path to the root, which calls itself ".". A path that
// the contract rules out is a bug of the caller.
func path(name string) string {
	if name == "" {
		return "."
	}
	if !fs.ValidPath(name) || name == "." {
		panic(fmt.Sprintf("osdisk: %q is no clean path below the root", name))
	}
	if name == LockName {
		panic("osdisk: .lock is the lock of the directory, not a lane's file")
	}
	return name
}

// Open implements disk.FS.
func (v *view) Open(name string) (disk.File, error) { return v.open("open", name, os.O_RDWR) }

// Create implements disk.FS.
func (v *view) Create(name string) (disk.File, error) {
	return v.open("create", name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
}

func (v *view) open(op, name string, flag int) (disk.File, error) {
	f, err := v.d.root.OpenFile(path(name), flag, 0o644)
	if err != nil {
		return nil, wrap(op, name, err)
	}
	if !v.d.adopt(f) {
		f.Close()
		return nil, wrap(op, name, disk.ErrClosed)
	}
	return &file{v: v, name: name, f: f}, nil
}

// Rename implements disk.FS. POSIX would let a directory replace an empty one;
// the contract does not.
func (v *view) Rename(from, to string) error {
	source, target := path(from), path(to)
	if old, err := v.d.root.Lstat(target); err == nil && from != to {
		moved, err := v.d.root.Lstat(source)
		if err != nil {
			return wrap("rename", from, err)
		}
		if old.IsDir() || moved.IsDir() {
			return fmt.Errorf("rename %q to %q: %w", from, to, errTaken)
		}
	}
	if err := v.d.root.Rename(source, target); err != nil {
		return fmt.Errorf("rename %q to %q: %w", from, to, cause(err))
	}
	return nil
}

// Remove implements disk.FS.
func (v *view) Remove(name string) error { return wrap("remove", name, v.d.root.Remove(path(name))) }

// Mkdir implements disk.FS.
func (v *view) Mkdir(name string) error {
	return wrap("make directory", name, v.d.root.Mkdir(path(name), 0o755))
}

// List implements disk.FS.
func (v *view) List(dir string) ([]string, error) {
	f, err := v.d.root.Open(path(dir))
	if err != nil {
		return nil, wrap("list", dir, err)
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, wrap("list", dir, err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		switch {
		case e.IsDir():
			names = append(names, e.Name()+"/")
		case dir != "" || e.Name() != LockName:
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// SyncDir implements disk.FS. The directory is opened now, so that a rename of
// it meanwhile does not turn the sync to another one.
func (v *view) SyncDir(token disk.Token, dir string) {
	f, err := v.d.root.Open(path(dir))
	if err != nil {
		v.syncs.ask(job{token: token, err: wrap("sync directory", dir, err)})
		return
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		v.syncs.ask(job{token: token, err: wrap("sync directory", dir, err)})
		return
	}
	if v.syncs.join(token, dir, info) || !v.d.adopt(f) {
		f.Close()
		return
	}
	v.syncs.ask(job{token: token, name: dir, dir: info, sync: func() error {
		defer v.d.forget(f)
		return wrap("sync directory", dir, f.Sync())
	}})
}
