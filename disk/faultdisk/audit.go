package faultdisk

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"tidemark/disk"
)

// Side is one of the two contents of a disk.
type Side uint8

const (
	// Cached is what readers see.
	Cached Side = iota
	// Durable is what a power loss with LoseAll would leave.
	Durable
)

// Paths lists every path of one side, sorted, directories with a trailing slash.
func (d *Disk) Paths(s Side) []string {
	var paths []string
	if s == Cached {
		paths = cachedPaths(nil, "", d.root)
	} else {
		paths = d.durablePaths(nil, "", Root)
	}
	slices.Sort(paths)
	return paths
}

func cachedPaths(paths []string, prefix string, dir *inode) []string {
	for _, name := range sortedNames(dir) {
		n, path := dir.entries[name], prefix+name
		if n.dir {
			path += "/"
			paths = cachedPaths(paths, path, n)
		}
		paths = append(paths, path)
	}
	return paths
}

func (d *Disk) durablePaths(paths []string, prefix string, dir Inode) []string {
	for _, e := range d.base.List(dir) {
		path := prefix + e.Name
		if e.Dir {
			path += "/"
			paths = d.durablePaths(paths, path, e.Inode)
		}
		paths = append(paths, path)
	}
	return paths
}

// ReadFile returns the whole content of a file on one side.
func (d *Disk) ReadFile(s Side, path string) ([]byte, error) {
	if s == Durable {
		return d.readDurable(path)
	}
	n := d.lookup(path)
	if n == nil || n.dir {
		return nil, wrap("read", path, disk.ErrNotExist)
	}
	p := make([]byte, n.size)
	d.quiet = true
	err := d.readCached(n, p, 0)
	d.quiet = false
	return p, err
}

func (d *Disk) readDurable(path string) ([]byte, error) {
	at := Entry{Inode: Root}
	for _, name := range strings.Split(path, "/") {
		entries := d.base.List(at.Inode)
		i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == name })
		if i < 0 {
			return nil, wrap("read durable", path, disk.ErrNotExist)
		}
		at = entries[i]
	}
	if at.Dir {
		return nil, wrap("read durable", path, errIsDir)
	}
	p := make([]byte, d.base.Size(at.Inode))
	return p, d.base.ReadAt(at.Inode, p, 0)
}

// digester writes numbers and pages in one fixed form.
type digester struct {
	write func([]byte)
	buf   []byte
}

func (g *digester) add(text string, numbers ...int64) {
	g.buf = binary.LittleEndian.AppendUint32(g.buf[:0], uint32(len(text)))
	g.buf = append(g.buf, text...)
	for _, v := range numbers {
		g.buf = binary.LittleEndian.AppendUint64(g.buf, uint64(v))
	}
	g.write(g.buf)
}

func (g *digester) page(index int64, p *page, mask uint8) {
	g.add("page", index, int64(mask))
	g.write(p.data[:])
}

// Digest writes all that the layer holds over its base: cached names and pages,
// pending changes, syncs in flight, the stall.
func (d *Disk) Digest(write func([]byte)) {
	g := &digester{write: write}
	for _, n := range d.sorted() {
		g.add("inode", int64(n.id), n.size, n.cut, int64(n.refs), int64(n.handles))
		for _, name := range sortedNames(n) {
			g.add(name, int64(n.entries[name].id))
		}
		for _, s := range n.slots {
			g.page(s.index, s.page, s.page.dirty)
		}
	}
	for _, c := range d.journal {
		for _, b := range c.set[:c.n] {
			g.add(b.name, int64(c.seq), int64(b.dir.id), number(b.was), number(b.now))
		}
	}
	for _, f := range d.flights {
		g.add("sync", int64(f.id), number(f.ino), int64(f.seq), f.size, f.cut)
		for _, w := range f.writes {
			g.page(w.index, w.page, w.mask)
		}
	}
	g.add("stall", d.stall.until)
	d.digestFaults(g)
	d.digestResidents(g)
}

// digestFaults writes what was ordered, if anything was.
func (d *Disk) digestFaults(g *digester) {
	for _, o := range d.orders {
		g.add(o.target.Path, int64(o.kind), o.target.From, o.target.To, int64(o.target.Op), int64(o.seen))
	}
	if d.capacity > 0 {
		g.add("capacity", d.capacity)
	}
}

// digestResidents writes the order of a bounded page cache.
func (d *Disk) digestResidents(g *digester) {
	r := &d.residents
	if r.limit == 0 {
		return
	}
	g.add("page cache", r.limit, r.clean, r.dirty)
	for i := r.nodes[0].older; i != 0; i = r.nodes[i].older {
		g.add("clean", int64(r.nodes[i].key.file.id), r.nodes[i].key.index)
	}
	for _, n := range r.waiting {
		g.add("dirty", int64(n.id), int64(n.dirty))
	}
}

// number is the inode number of n, 0 for none.
func number(n *inode) int64 {
	if n == nil {
		return 0
	}
	return int64(n.id)
}

func sortedNames(dir *inode) []string { return slices.Sorted(maps.Keys(dir.entries)) }
