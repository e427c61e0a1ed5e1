package storage

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"tidemark/disk"
	"tidemark/node"
)

// tmpSuffix is Kafka's, of a file that is not complete yet.
const tmpSuffix = ".tmp"

// AtomicFile replaces one small file as a whole, so that every reader, after
// any crash, finds the old content or the new:
//
//	write <path>.tmp ─▶ fsync ─▶ rename over <path> ─▶ fsync the directory
//
// Each fsync is waited for. A write that comes while another is under way
// waits; a later one takes the place of one that still waits, and then both are
// told the outcome of the later.
type AtomicFile struct {
	fs    disk.FS
	syncs *node.Syncs
	path  string

	busy    bool
	stopped bool
	running []func(error) // to tell of the write under way

	next    []byte        // what waits
	waiting []func(error) // to tell of it; empty if nothing waits
}

// NewAtomicFile returns the writer of the file at path. There must be only one
// in a process life.
func NewAtomicFile(fs disk.FS, syncs *node.Syncs, path string) *AtomicFile {
	return &AtomicFile{fs: fs, syncs: syncs, path: path}
}

// Write replaces the file's content, then runs done (if it is not nil) with nil
// once the new content is durable under its name, or with the disk's error.
// The file keeps content, which must not change any more.
func (f *AtomicFile) Write(content []byte, done func(error)) {
	if f.busy {
		f.next = content
		f.waiting = append(f.waiting, done)
		return
	}
	f.start(content, []func(error){done})
}

func (f *AtomicFile) start(content []byte, tell []func(error)) {
	f.busy, f.running = true, tell
	tmp, err := f.stage(content)
	if err != nil {
		if tmp != nil {
			err = errors.Join(err, tmp.Close())
		}
		f.finish(err)
		return
	}
	tmp.Sync(f.syncs.Token(func(err error) { f.staged(tmp, err) }))
}

// stage writes content to the temporary file, in place of one that a crash left.
func (f *AtomicFile) stage(content []byte) (disk.File, error) {
	if err := f.fs.Remove(f.path + tmpSuffix); err != nil && !errors.Is(err, disk.ErrNotExist) {
		return nil, err
	}
	tmp, err := f.fs.Create(f.path + tmpSuffix)
	if err != nil {
		return nil, err
	}
	_, err = tmp.WriteAt(content, 0)
	return tmp, err
}

// staged goes on when the temporary file is durable.
func (f *AtomicFile) staged(tmp disk.File, err error) {
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if f.stopped {
		return
	}
	if err == nil {
		err = f.fs.Rename(f.path+tmpSuffix, f.path)
	}
	if err != nil {
		f.finish(err)
		return
	}
	f.fs.SyncDir(f.syncs.Token(f.finish), parent(f.path))
}

// finish ends a write and starts the one that waits, before it tells anybody:
// who is told may write again.
func (f *AtomicFile) finish(err error) {
	if f.stopped {
		return
	}
	tell := f.running
	f.busy, f.running = false, nil
	if len(f.waiting) > 0 {
		content, waiting := f.next, f.waiting
		f.next, f.waiting = nil, nil
		f.start(content, waiting)
	}
	if err != nil {
		err = fmt.Errorf("replace %s: %w", f.path, err)
	}
	for _, done := range tell {
		if done != nil {
			done(err)
		}
	}
}

// stop makes what is under way end without effect: its directory is going away.
func (f *AtomicFile) stop() { f.stopped = true }

// ReadFile returns the whole content of a file; a missing one is
// disk.ErrNotExist.
func ReadFile(fs disk.FS, path string) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	content, err := readAll(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return content, nil
}

func readAll(f disk.File) ([]byte, error) {
	size, err := f.Size()
	if err != nil || size == 0 {
		return nil, err
	}
	content := make([]byte, size)
	if n, err := f.ReadAt(content, 0); n < len(content) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return content, nil
}

// parent is the directory that path lies in; "" is the root.
func parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}
