package replay

import (
	"tidemark/disk"
	"tidemark/node/live/recording"
)

// files is a lane's file system: the simulated one, but for the errors of the
// device, which are inputs.
type files struct {
	n  *lane
	fs disk.FS
}

// fault is the error that the step whose turn it is was answered with.
func (n *lane) fault(kind recording.StepKind) (s *recording.Step, f recording.Fault) {
	n.op()
	s, ok := n.tape.Next(kind)
	if !ok {
		return s, recording.Fault{}
	}
	return s, s.Fault
}

// do carries an operation out, unless the device refused it. An error has the
// words that it had then, if it is the same one.
func (n *lane) do(kind recording.StepKind, op func() error) error {
	_, f := n.fault(kind)
	if f.Kind != 0 && !f.Follows() {
		return f.Err()
	}
	return inWords(op(), f)
}

func inWords(err error, f recording.Fault) error {
	if f.Kind != 0 && recording.FaultOf(err).Kind == f.Kind {
		return f.Err()
	}
	return err
}

// Open implements disk.FS.
func (f *files) Open(name string) (disk.File, error) {
	return f.file(recording.StepOpen, func() (disk.File, error) { return f.fs.Open(name) })
}

// Create implements disk.FS.
func (f *files) Create(name string) (disk.File, error) {
	return f.file(recording.StepCreate, func() (disk.File, error) { return f.fs.Create(name) })
}

func (f *files) file(kind recording.StepKind, open func() (disk.File, error)) (disk.File, error) {
	var inner disk.File
	err := f.n.do(kind, func() (err error) {
		inner, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return &file{inner, f.n}, nil
}

// Rename implements disk.FS.
func (f *files) Rename(from, to string) error {
	return f.n.do(recording.StepRename, func() error { return f.fs.Rename(from, to) })
}

// Remove implements disk.FS.
func (f *files) Remove(name string) error {
	return f.n.do(recording.StepRemove, func() error { return f.fs.Remove(name) })
}

// Mkdir implements disk.FS.
func (f *files) Mkdir(name string) error {
	return f.n.do(recording.StepMkdir, func() error { return f.fs.Mkdir(name) })
}

// List implements disk.FS. The root belongs to all lanes, so what it held is an
// input.
func (f *files) List(dir string) (names []string, err error) {
	s, fault := f.n.fault(recording.StepList)
	if fault.Kind != 0 && !fault.Follows() {
		return nil, fault.Err()
	}
	if dir == "" {
		return recording.Listing(s), fault.Err()
	}
	names, err = f.fs.List(dir)
	return names, inWords(err, fault)
}

// SyncDir implements disk.FS.
func (f *files) SyncDir(token disk.Token, dir string) {
	f.n.op()
	f.fs.SyncDir(token, dir)
}

// file is one of its files. Regions are those of the simulated file.
type file struct {
	disk.File
	n *lane
}

// ReadAt implements disk.File.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	s, fault := f.n.fault(recording.StepReadAt)
	n, err := f.File.ReadAt(p, off)
	if fault.Kind != 0 && !fault.Follows() {
		return min(n, int(s.Number(3))), fault.Err()
	}
	return n, inWords(err, fault)
}

// WriteAt implements disk.File.
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	s, fault := f.n.fault(recording.StepWriteAt)
	if fault.Kind == 0 || fault.Follows() {
		n, err := f.File.WriteAt(p, off)
		return n, inWords(err, fault)
	}
	n := min(len(p), int(s.Number(4)))
	if n > 0 {
		f.File.WriteAt(p[:n], off)
	}
	return n, fault.Err()
}

// Truncate implements disk.File.
func (f *file) Truncate(size int64) error {
	return f.n.do(recording.StepTruncate, func() error { return f.File.Truncate(size) })
}

// Size implements disk.File.
func (f *file) Size() (size int64, err error) {
	err = f.n.do(recording.StepSize, func() (err error) {
		size, err = f.File.Size()
		return err
	})
	return size, err
}

// Sync implements disk.File.
func (f *file) Sync(token disk.Token) {
	f.n.op()
	f.File.Sync(token)
}

// Close implements disk.File.
func (f *file) Close() error {
	return f.n.do(recording.StepCloseFile, func() error { return f.File.Close() })
}
