package faultdisk

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tidemark/disk"
)

// Disk is the page cache and the faults of one disk. It is not safe for
// concurrent use.
type Disk struct {
	base      Base
	life      uint64 // of handles: the incarnation of the node
	root      *inode
	inodes    map[Inode]*inode
	lastInode Inode

	journal    []change // pending changes of names, in order
	lastChange uint64

	flights  []*flight // syncs in flight, in the order they were asked
	lastSync Sync

	free        []*page
	fresh       []page // that nobody used yet
	made        int    // pages so far
	freeFlights []*flight

	residents residents // of a bounded page cache
	forced    int64     // bytes that it wrote back

	orders   []*order
	scars    map[scar]*order
	flips    []flipped
	capacity int64  // bytes, 0: unlimited
	noSpace  *order // the limit
	quiet    bool   // whoever reads is no reader

	stall stall
	stats Stats
}

// New returns a disk whose cache is empty, over what base holds.
func New(base Base) *Disk {
	d := &Disk{base: base, lastInode: Root}
	d.boot()
	return d
}

// boot builds the cached names from the durable ones.
func (d *Disk) boot() {
	d.life++
	d.flips = nil
	d.residents.reset(d.residents.limit)
	d.root = &inode{id: Root, dir: true, refs: 1, named: true, entries: map[string]*inode{}}
	d.inodes = map[Inode]*inode{Root: d.root}
	d.load(d.root)
}

var (
	errIsDir    = fmt.Errorf("is a directory: %w", disk.ErrNotExist)
	errNotEmpty = fmt.Errorf("directory is not empty: %w", disk.ErrExist)
	errIntoSelf = errors.New("a directory cannot move into itself")
)

// wrap adds the operation and the path to an error.
func wrap(op, name string, err error) error {
	return fmt.Errorf("%s %q: %w", op, name, err)
}

// checkPath panics on a path that the contract rules out: a bug of the caller.
func checkPath(path string) {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." {
			panic(fmt.Sprintf("faultdisk: %q is no clean path below the root", path))
		}
	}
}

// lookup follows a path from the root; nil if it leads nowhere.
func (d *Disk) lookup(path string) *inode {
	n := d.root
	if path == "" {
		return n
	}
	checkPath(path)
	for name := range strings.SplitSeq(path, "/") {
		if n = n.entries[name]; n == nil {
			return nil
		}
	}
	return n
}

// parent finds the directory of a path and the last element; nil if there is no
// such directory.
func (d *Disk) parent(path string) (*inode, string) {
	checkPath(path)
	cut := strings.LastIndexByte(path, '/')
	n := d.lookup(path[:max(cut, 0)])
	if n == nil || !n.dir {
		return nil, ""
	}
	return n, path[cut+1:]
}

// Top is the inode that a path leads through depth names below the root, 0 if
// there is none.
func (d *Disk) Top(path string, depth int) Inode {
	checkPath(path)
	n := d.root
	for ; depth > 0 && n != nil && path != ""; depth-- {
		name, rest, _ := strings.Cut(path, "/")
		n, path = n.entries[name], rest
	}
	if n == nil {
		return 0
	}
	return n.id
}

// Open opens an existing file.
func (d *Disk) Open(name string) (*File, error) {
	n := d.lookup(name)
	if n == nil {
		return nil, wrap("open", name, disk.ErrNotExist)
	}
	if n.dir {
		return nil, wrap("open", name, errIsDir)
	}
	return d.handle(n), nil
}

// Create makes an empty file and opens it.
func (d *Disk) Create(name string) (*File, error) {
	n, err := d.make("create", name, false)
	if err != nil {
		return nil, err
	}
	return d.handle(n), nil
}

// Mkdir makes a directory.
func (d *Disk) Mkdir(name string) error {
	_, err := d.make("mkdir", name, true)
	return err
}

func (d *Disk) make(op, path string, dir bool) (*inode, error) {
	parent, name := d.parent(path)
	if parent == nil {
		return nil, wrap(op, path, disk.ErrNotExist)
	}
	if parent.entries[name] != nil {
		return nil, wrap(op, path, disk.ErrExist)
	}
	if d.crowded() {
		return nil, d.full(op, path)
	}
	n := d.newInode(dir)
	n.refs, n.named = 1, true
	parent.entries[name] = n
	d.record(change{n: 1, set: [2]binding{{dir: parent, name: name, now: n}}})
	return n, nil
}

// Remove unlinks a file or an empty directory.
func (d *Disk) Remove(path string) error {
	parent, name := d.parent(path)
	if parent == nil || parent.entries[name] == nil {
		return wrap("remove", path, disk.ErrNotExist)
	}
	n := parent.entries[name]
	if len(n.entries) > 0 {
		return wrap("remove", path, errNotEmpty)
	}
	delete(parent.entries, name)
	n.named = false
	d.record(change{n: 1, set: [2]binding{{dir: parent, name: name, was: n}}})
	return d.release(n)
}

// Rename moves a file or a directory and replaces a target that is a file.
func (d *Disk) Rename(from, to string) error {
	src, a := d.parent(from)
	if src == nil || src.entries[a] == nil {
		return wrap("rename", from, disk.ErrNotExist)
	}
	dst, b := d.parent(to)
	if dst == nil {
		return wrap("rename to", to, disk.ErrNotExist)
	}
	if from == to {
		return nil
	}
	n, target := src.entries[a], dst.entries[b]
	if target != nil && (target.dir || n.dir) {
		return wrap("rename to", to, disk.ErrExist)
	}
	if n.dir && strings.HasPrefix(to, from+"/") {
		return wrap("rename to", to, errIntoSelf)
	}
	delete(src.entries, a)
	dst.entries[b] = n
	d.record(change{n: 2, set: [2]binding{
		{dir: src, name: a, was: n},
		{dir: dst, name: b, was: target, now: n},
	}})
	if target == nil {
		return nil
	}
	target.named = false
	return d.release(target)
}

// List returns the names in a directory, sorted, directories with a trailing
// slash.
func (d *Disk) List(dir string) ([]string, error) {
	n := d.lookup(dir)
	if n == nil || !n.dir {
		return nil, wrap("list", dir, disk.ErrNotExist)
	}
	names := sortedNames(n)
	for i, name := range names {
		if n.entries[name].dir {
			names[i] += "/"
		}
	}
	slices.Sort(names)
	return names, nil
}
