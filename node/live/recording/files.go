package recording

import (
	"strings"

	"tidemark/disk"
	"tidemark/model/event"
)

// tapeFS is a lane's file system on its tape.
type tapeFS struct {
	t  *Tape
	fs disk.FS
}

// path writes a step about paths.
func (f *tapeFS) path(kind StepKind, err error, names ...string) {
	s := f.t.begin(kind)
	s.Strings = append(s.Strings, names...)
	s.Fault = FaultOf(err)
	f.t.done()
}

// Open implements disk.FS.
func (f *tapeFS) Open(name string) (disk.File, error) {
	file, err := f.fs.Open(name)
	f.path(StepOpen, err, name)
	return f.file(file, err)
}

// Create implements disk.FS.
func (f *tapeFS) Create(name string) (disk.File, error) {
	file, err := f.fs.Create(name)
	f.path(StepCreate, err, name)
	return f.file(file, err)
}

func (f *tapeFS) file(file disk.File, err error) (disk.File, error) {
	if err != nil {
		return nil, err
	}
	f.t.files++
	return &tapeFile{f.t, file, f.t.files}, nil
}

// Rename implements disk.FS.
func (f *tapeFS) Rename(from, to string) error {
	err := f.fs.Rename(from, to)
	f.path(StepRename, err, from, to)
	return err
}

// Remove implements disk.FS.
func (f *tapeFS) Remove(name string) error {
	err := f.fs.Remove(name)
	f.path(StepRemove, err, name)
	return err
}

// Mkdir implements disk.FS.
func (f *tapeFS) Mkdir(name string) error {
	err := f.fs.Mkdir(name)
	f.path(StepMkdir, err, name)
	return err
}

// nameEnd stands between the names of a recorded listing: no path holds it.
const nameEnd = "\x00"

// List implements disk.FS.
func (f *tapeFS) List(dir string) ([]string, error) {
	names, err := f.fs.List(dir)
	f.path(StepList, err, dir, strings.Join(names, nameEnd))
	return names, err
}

// Listing are the names that a recorded List answered.
func Listing(s *Step) []string {
	if len(s.Strings) < 2 || s.Strings[1] == "" {
		return nil
	}
	return strings.Split(s.Strings[1], nameEnd)
}

// SyncDir implements disk.FS.
func (f *tapeFS) SyncDir(token disk.Token, dir string) {
	f.fs.SyncDir(token, dir)
	s := f.t.begin(StepSyncDir, uint64(token))
	s.Strings = append(s.Strings, dir)
	f.t.done()
}

// tapeFile is one of its files, which a recording numbers in order of opening.
type tapeFile struct {
	t    *Tape
	file disk.File
	id   uint64
}

func (f *tapeFile) op(err error, kind StepKind, numbers ...uint64) {
	f.t.begin(kind, numbers...).Fault = FaultOf(err)
	f.t.done()
}

// ReadAt implements disk.File.
func (f *tapeFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.file.ReadAt(p, off)
	f.op(err, StepReadAt, f.id, uint64(off), uint64(len(p)), uint64(n), digest(p[:n]))
	return n, err
}

// WriteAt implements disk.File.
func (f *tapeFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.file.WriteAt(p, off)
	f.op(err, StepWriteAt, f.id, uint64(off), uint64(len(p)), digest(p), uint64(n))
	return n, err
}

// Truncate implements disk.File.
func (f *tapeFile) Truncate(size int64) error {
	err := f.file.Truncate(size)
	f.op(err, StepTruncate, f.id, uint64(size))
	return err
}

// Size implements disk.File.
func (f *tapeFile) Size() (int64, error) {
	size, err := f.file.Size()
	f.op(err, StepSize, f.id, uint64(size))
	return size, err
}

// Sync implements disk.File.
func (f *tapeFile) Sync(token disk.Token) {
	f.file.Sync(token)
	f.op(nil, StepSync, f.id, uint64(token))
}

// chunkBytes is how much of a region is digested at once.
const chunkBytes = 64 << 10

// Region implements disk.File. Its bytes are digested here, in a callback of the
// lane that owns the file: at the socket write another thread reads them, at an
// instant that no input tells.
func (f *tapeFile) Region(off int64, n int) disk.Region {
	r := f.file.Region(off, n)
	if f.t.chunk == nil {
		f.t.chunk = make([]byte, chunkBytes)
	}
	var d event.Digest
	var err error
	for part := r; part.N > 0 && err == nil; part.Off, part.N = part.Off+chunkBytes, part.N-chunkBytes {
		piece := part
		piece.N = min(part.N, chunkBytes)
		if err = piece.Read(f.t.chunk[:piece.N]); err == nil {
			d.Bytes(f.t.chunk[:piece.N])
		}
	}
	fault := FaultOf(err)
	fault.Text = ""
	f.t.begin(StepRegion, f.id, uint64(off), uint64(n), d.Sum()).Fault = fault
	f.t.done()
	return r
}

// Close implements disk.File.
func (f *tapeFile) Close() error {
	err := f.file.Close()
	f.op(err, StepCloseFile, f.id)
	return err
}
