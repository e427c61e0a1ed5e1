package live

import "tidemark/disk"

// laneFS is a lane's file system. It stands between lane and disk so that the
// dead do nothing more, and every answer of a file passes here.
type laneFS struct {
	l  *lane
	fs disk.FS
}

// Open implements disk.FS.
func (f *laneFS) Open(name string) (disk.File, error) {
	f.l.diskOp()
	return f.file(f.fs.Open(name))
}

// Create implements disk.FS.
func (f *laneFS) Create(name string) (disk.File, error) {
	f.l.diskOp()
	return f.file(f.fs.Create(name))
}

func (f *laneFS) file(file disk.File, err error) (disk.File, error) {
	if err != nil {
		return nil, err
	}
	return &laneFile{f.l, file}, nil
}

// Rename implements disk.FS.
func (f *laneFS) Rename(from, to string) error {
	f.l.diskOp()
	return f.fs.Rename(from, to)
}

// Remove implements disk.FS.
func (f *laneFS) Remove(name string) error {
	f.l.diskOp()
	return f.fs.Remove(name)
}

// Mkdir implements disk.FS.
func (f *laneFS) Mkdir(name string) error {
	f.l.diskOp()
	return f.fs.Mkdir(name)
}

// List implements disk.FS.
func (f *laneFS) List(dir string) ([]string, error) {
	f.l.diskOp()
	return f.fs.List(dir)
}

// SyncDir implements disk.FS.
func (f *laneFS) SyncDir(token disk.Token, dir string) {
	f.l.diskOp()
	f.fs.SyncDir(token, dir)
}

// laneFile is one of its files.
type laneFile struct {
	l    *lane
	file disk.File
}

// ReadAt implements disk.File.
func (f *laneFile) ReadAt(p []byte, off int64) (int, error) {
	f.l.diskOp()
	return f.file.ReadAt(p, off)
}

// WriteAt implements disk.File.
func (f *laneFile) WriteAt(p []byte, off int64) (int, error) {
	f.l.diskOp()
	return f.file.WriteAt(p, off)
}

// Truncate implements disk.File.
func (f *laneFile) Truncate(size int64) error {
	f.l.diskOp()
	return f.file.Truncate(size)
}

// Size implements disk.File.
func (f *laneFile) Size() (int64, error) {
	f.l.diskOp()
	return f.file.Size()
}

// Sync implements disk.File.
func (f *laneFile) Sync(token disk.Token) {
	f.l.diskOp()
	f.file.Sync(token)
}

// Region implements disk.File.
func (f *laneFile) Region(off int64, n int) disk.Region { return f.file.Region(off, n) }

// Close implements disk.File.
func (f *laneFile) Close() error {
	f.l.diskOp()
	return f.file.Close()
}
