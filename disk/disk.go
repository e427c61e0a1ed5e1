package disk

import "errors"

// Token names one asynchronous Sync or SyncDir; unique within a lane's life.
type Token uint64

// The errors that callers tell apart; implementations wrap them with the
// operation and the path.
var (
	ErrNotExist = errors.New("no such file or directory")
	ErrExist    = errors.New("file exists")
	ErrClosed   = errors.New("file is closed")
	ErrNoSpace  = errors.New("no space left on device")
	ErrIO       = errors.New("input/output error")
)

// FS is one lane's view of a file system. It is valid only inside a callback of
// that lane. Every method counts as one operation of the lane and costs
// simulated time where time is simulated.
type FS interface {
	// Open opens an existing file for reading and writing. ErrNotExist; a
	// directory is no file.
	Open(name string) (File, error)
	// Create makes a new empty file, its directory must exist. ErrExist.
	Create(name string) (File, error)
	// Rename moves a file or a directory. A file replaces a target that is a file;
	// any other target that exists makes it fail. ErrNotExist.
	Rename(from, to string) error
	// Remove unlinks a file or an empty directory. Open files and regions stay
	// readable. ErrNotExist; a directory that is not empty makes it fail.
	Remove(name string) error
	// Mkdir makes one directory, its parent must exist. ErrExist.
	Mkdir(name string) error
	// List returns the names in a directory, directories with a trailing slash,
	// sorted as strings with it. ErrNotExist.
	List(dir string) ([]string, error)
	// SyncDir asks that all creates, renames and unlinks so far in dir become
	// durable, and that Synced(token, error) follows.
	SyncDir(token Token, dir string)
}

// File is an open file. Offsets and sizes are in bytes.
type File interface {
	// ReadAt fills p from offset off; like io.ReaderAt, n < len(p) comes with an
	// error, io.EOF at the end of the file.
	ReadAt(p []byte, off int64) (n int, err error)
	// WriteAt writes p at offset off and grows the file as needed; a hole reads
	// as zeros. A short write returns n < len(p) and an error.
	WriteAt(p []byte, off int64) (n int, err error)
	// Truncate sets the size; growth reads as zeros.
	Truncate(size int64) error
	// Size is the size in the page cache.
	Size() (int64, error)
	// Sync asks that all writes so far become durable, and that
	// Synced(token, error) follows.
	Sync(token Token)
	// Region returns the n bytes at off as a value that is read later, by the
	// connection's writer, and holds the file open until it is released. It
	// costs nothing now and checks nothing.
	Region(off int64, n int) Region
	// Close releases the handle; it syncs nothing. Regions stay readable until
	// they are released.
	Close() error
}

// A Reader gives the bytes behind a region at the time of the socket write.
type Reader interface {
	// ReadRegion fills p from off. An error (io.ErrUnexpectedEOF if the file is
	// too short now, ErrClosed if nothing holds it open, a device error) resets
	// the connection that it was meant for.
	ReadRegion(p []byte, off int64) error
	// Retain and Release count the regions that keep the file open.
	Retain()
	Release()
}

// Region stands for bytes of a file that were not read yet; the zero Region
// stands for no bytes. Whoever takes it over must Release it once.
type Region struct {
	Src Reader
	Off int64 // position in the file, bytes
	N   int   // length, bytes
}

// Read fills p, which has N bytes, with the region's bytes as they are now.
func (r Region) Read(p []byte) error {
	if r.N == 0 {
		return nil
	}
	return r.Src.ReadRegion(p, r.Off)
}

// Release gives the region up.
func (r Region) Release() {
	if r.Src != nil {
		r.Src.Release()
	}
}
