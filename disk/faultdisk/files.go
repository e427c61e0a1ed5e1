package faultdisk

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"tidemark/disk"
)

// Unnamed is the directory in the root of a Files' file system for what has no
// durable name. It is there as long as it is needed, and no listing shows it.
const Unnamed = ".unnamed"

// Files is a Base over any disk.FS, such as real files: the files below it are what
// is durable, and the tree of names is theirs.
//
//	page cache and faults ── sync ──▶ Files ──▶ t-0/00000000000000000000.log
//	                                            .unnamed/7   content without a name
//
// A file that was synced and whose directory was not waits in Unnamed; Link renames
// it to its place. So whoever opens the directory without the layer finds what a
// power loss would leave: the death of the process that holds the layer is one.
// What the FS itself has in its page cache stays, as the process dies and the
// machine does not; Files asks for no fsync.
//
// A file is open from its first use until it is forgotten.
type Files struct {
	fs      disk.FS
	items   map[Inode]*item
	last    Inode
	unnamed int // items in Unnamed
}

// item is a file or a directory.
type item struct {
	id    Inode
	dir   bool
	in    *item // the directory that has it; nil: Unnamed, or it is the root
	name  string
	names []Entry // of a directory, sorted
	f     disk.File
	size  int64 // bytes
	// replaced: another file has its name now, and only the open handle leads to it.
	replaced bool
}

// OnFiles returns what is in fs as a Base, and drops what had no name when a process
// died. An error is one of fs.
func OnFiles(fs disk.FS) (*Files, error) {
	b := &Files{fs: fs, items: map[Inode]*item{}, last: Root}
	root := &item{id: Root, dir: true}
	b.items[Root] = root
	if err := removeAll(fs, Unnamed); err != nil {
		return nil, err
	}
	return b, b.scan(root)
}

// removeAll removes a directory with all that is in it, if it is there.
func removeAll(fs disk.FS, dir string) error {
	names, err := fs.List(dir)
	if errors.Is(err, disk.ErrNotExist) {
		return nil
	}
	for _, name := range names {
		if below, is := strings.CutSuffix(name, "/"); is {
			err = cmp.Or(err, removeAll(fs, dir+"/"+below))
		} else {
			err = cmp.Or(err, fs.Remove(dir+"/"+name))
		}
	}
	return cmp.Or(err, fs.Remove(dir))
}

// scan numbers what a directory has, and what is below.
func (b *Files) scan(dir *item) error {
	names, err := b.fs.List(b.path(dir))
	if err != nil {
		return err
	}
	for _, name := range names {
		name, isDir := strings.CutSuffix(name, "/")
		b.last++
		x := &item{id: b.last, dir: isDir, in: dir, name: name}
		b.items[x.id] = x
		dir.set(Entry{Name: name, Inode: x.id, Dir: isDir})
		if isDir {
			err = b.scan(x)
		} else {
			err = b.open(x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// open opens a file that is there.
func (b *Files) open(x *item) (err error) {
	if x.f, err = b.fs.Open(b.path(x)); err != nil {
		return err
	}
	x.size, err = x.f.Size()
	return err
}

// path is where a file or a directory is.
func (b *Files) path(x *item) string {
	switch {
	case x.id == Root:
		return ""
	case x.in == nil:
		return fmt.Sprintf("%s/%d", Unnamed, x.id)
	case x.in.id == Root:
		return x.name
	}
	return b.path(x.in) + "/" + x.name
}

// set puts a name into a directory, in place of what it led to.
func (x *item) set(e Entry) {
	i, found := slices.BinarySearchFunc(x.names, e.Name, entryName)
	if found {
		x.names[i] = e
		return
	}
	x.names = slices.Insert(x.names, i, e)
}

func entryName(e Entry, name string) int { return strings.Compare(e.Name, name) }

// at returns an item, and makes it without a name on its first use.
func (b *Files) at(i Inode, dir bool) (*item, error) {
	if x := b.items[i]; x != nil {
		return x, nil
	}
	if err := b.makeRoom(); err != nil {
		return nil, err
	}
	x := &item{id: i, dir: dir}
	var err error
	if dir {
		err = b.fs.Mkdir(b.path(x))
	} else {
		x.f, err = b.fs.Create(b.path(x))
	}
	if err != nil {
		return nil, cmp.Or(b.leave(), err)
	}
	b.items[i] = x
	return x, nil
}

// makeRoom makes Unnamed for one item more.
func (b *Files) makeRoom() error {
	if b.unnamed++; b.unnamed > 1 {
		return nil
	}
	if err := b.fs.Mkdir(Unnamed); err != nil {
		b.unnamed--
		return err
	}
	return nil
}

// leave takes an item out of Unnamed, and Unnamed away with the last.
func (b *Files) leave() error {
	if b.unnamed--; b.unnamed > 0 {
		return nil
	}
	return b.fs.Remove(Unnamed)
}

// ReadAt implements Base.
func (b *Files) ReadAt(i Inode, p []byte, off int64) error {
	n := 0
	if x := b.items[i]; x != nil && off < x.size {
		var err error
		if n, err = x.f.ReadAt(p[:min(int64(len(p)), x.size-off)], off); err != nil && err != io.EOF {
			return err
		}
	}
	clear(p[n:])
	return nil
}

// WriteAt implements Base.
func (b *Files) WriteAt(i Inode, p []byte, off int64) error {
	x, err := b.at(i, false)
	if err != nil {
		return err
	}
	n, err := x.f.WriteAt(p, off)
	if n > 0 {
		x.size = max(x.size, off+int64(n))
	}
	return err
}

// Truncate implements Base.
func (b *Files) Truncate(i Inode, size int64) error {
	x, err := b.at(i, false)
	if err != nil {
		return err
	}
	if err := x.f.Truncate(size); err != nil {
		return err
	}
	x.size = size
	return nil
}

// Size implements Base.
func (b *Files) Size(i Inode) int64 {
	if x := b.items[i]; x != nil {
		return x.size
	}
	return 0
}

// Link implements Base. A file's name is never missing in between: what it led to
// goes with the rename.
func (b *Files) Link(dir Inode, e Entry) error {
	to, err := b.at(dir, true)
	if err != nil {
		return err
	}
	x, err := b.at(e.Inode, e.Dir)
	if err != nil {
		return err
	}
	if x.replaced {
		panic(fmt.Sprintf("faultdisk: file %d gets the name %q after another took its name", x.id, e.Name))
	}
	if old := b.named(to, e.Name); old != nil && old != x {
		if old.dir || e.Dir {
			if err := b.detach(old); err != nil {
				return err
			}
		} else {
			old.replaced = true
		}
	}
	was := x.in
	if err := b.move(x, to, e.Name); err != nil {
		return err
	}
	to.set(e)
	if was == nil {
		return b.leave()
	}
	return nil
}

// move renames an item.
func (b *Files) move(x, to *item, name string) error {
	moved := item{id: x.id, in: to, name: name}
	if err := b.fs.Rename(b.path(x), b.path(&moved)); err != nil {
		return err
	}
	x.in.drop(x.name)
	x.in, x.name = to, name
	return nil
}

// drop takes a name out of a directory; nil is Unnamed.
func (x *item) drop(name string) {
	if x != nil {
		x.names = slices.DeleteFunc(x.names, func(e Entry) bool { return e.Name == name })
	}
}

// named is what a name leads to, nil if nothing.
func (b *Files) named(dir *item, name string) *item {
	if i, found := slices.BinarySearchFunc(dir.names, name, entryName); found {
		return b.items[dir.names[i].Inode]
	}
	return nil
}

// Unlink implements Base.
func (b *Files) Unlink(dir Inode, name string) error {
	from := b.items[dir]
	if from == nil {
		return nil
	}
	if x := b.named(from, name); x != nil {
		return b.detach(x)
	}
	return nil
}

// detach takes the name of an item.
func (b *Files) detach(x *item) error {
	if err := b.makeRoom(); err != nil {
		return err
	}
	return b.move(x, nil, "")
}

// List implements Base.
func (b *Files) List(dir Inode) []Entry {
	if x := b.items[dir]; x != nil {
		return x.names
	}
	return nil
}

// Forget implements Base. What a directory still has loses its name.
func (b *Files) Forget(i Inode) error {
	x := b.items[i]
	if x == nil {
		return nil
	}
	for len(x.names) > 0 {
		if err := b.detach(b.items[x.names[0].Inode]); err != nil {
			return err
		}
	}
	delete(b.items, i)
	if x.f != nil {
		if err := x.f.Close(); err != nil {
			return err
		}
	}
	if x.replaced {
		return nil
	}
	if err := b.fs.Remove(b.path(x)); err != nil {
		return err
	}
	x.in.drop(x.name)
	if x.in == nil {
		return b.leave()
	}
	return nil
}
