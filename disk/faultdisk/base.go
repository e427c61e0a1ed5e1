package faultdisk

// Inode numbers a file or a directory for as long as it exists on a disk.
type Inode uint64

// Root is the inode of the root directory; a Base has it from the start.
const Root Inode = 1

// Entry is one durable name in a directory.
type Entry struct {
	Name  string
	Inode Inode
	Dir   bool
}

// Base keeps what is durable: the bytes of inodes, and names that lead to them.
// Inodes come into being on their first use and may hold bytes before any name
// leads to them, or after. Errors are those of the device below.
type Base interface {
	// ReadAt fills p from byte off; what lies past the end is zeros.
	ReadAt(i Inode, p []byte, off int64) error
	// WriteAt writes p at byte off and grows the file as needed.
	WriteAt(i Inode, p []byte, off int64) error
	// Truncate sets the size in bytes; growth is zeros.
	Truncate(i Inode, size int64) error
	// Size is the size in bytes, 0 for an unknown inode.
	Size(i Inode) int64
	// Link sets a name in dir, in place of what it led to.
	Link(dir Inode, e Entry) error
	// Unlink takes a name out of dir; the inode stays.
	Unlink(dir Inode, name string) error
	// List gives the names in dir, sorted, none for an unknown inode. The slice is
	// valid until the next change.
	List(dir Inode) []Entry
	// Forget frees an inode that no name, handle or pending change leads to.
	Forget(i Inode) error
}
