package faultdisk

import (
	"maps"
	"math"
	"slices"
)

// inode is a file or a directory in the cache.
type inode struct {
	id  Inode
	dir bool
	// refs counts what keeps the inode: its cached name, its durable name, each
	// pending change that gives it a name, open handles, syncs in flight.
	refs    int
	handles int // open handles, part of refs
	named   bool

	entries map[string]*inode // of a directory

	// The newest version of a file, see the package comment.
	slots   []slot // sorted by index
	size    int64  // bytes
	cut     int64  // lowest size since the last sync was asked, noCut if none
	flights int    // syncs in flight, part of refs

	// unreported is the error of a write-back, which the next sync fails with.
	unreported error

	// Of a bounded page cache: the first of the pages in memory, and how many of
	// them are dirty.
	pages int32
	dirty int

	// Of an unbounded one: cold is the size in bytes that was durable when the machine booted; pages
	// below it are in memory only if their bit in warm is set.
	cold int64
	warm []uint64
}

// newInode makes an inode without a name.
func (d *Disk) newInode(dir bool) *inode {
	d.lastInode++
	n := &inode{id: d.lastInode, dir: dir, cut: noCut}
	if dir {
		n.entries = map[string]*inode{}
	}
	d.inodes[n.id] = n
	return n
}

// load fills a directory of the cache with what the base has.
func (d *Disk) load(dir *inode) {
	for _, e := range d.base.List(dir.id) {
		n := &inode{id: e.Inode, dir: e.Dir, refs: 2, named: true, cut: noCut}
		d.inodes[n.id] = n
		d.lastInode = max(d.lastInode, n.id)
		dir.entries[e.Name] = n
		if e.Dir {
			n.entries = map[string]*inode{}
			d.load(n)
			continue
		}
		n.size = d.base.Size(n.id)
		n.cold = n.size
	}
}

// release drops one reference, and the inode with the last.
func (d *Disk) release(n *inode) error {
	n.refs--
	if n.refs > 0 {
		return nil
	}
	for _, s := range n.slots {
		if !s.page.held {
			d.give(s.page)
		}
	}
	n.slots = nil
	d.residents.dropFrom(n, 0)
	delete(d.inodes, n.id)
	return d.forget(n.id)
}

// sorted lists all inodes by number.
func (d *Disk) sorted() []*inode {
	all := make([]*inode, 0, len(d.inodes))
	for _, id := range slices.Sorted(maps.Keys(d.inodes)) {
		all = append(all, d.inodes[id])
	}
	return all
}

// warmUp marks the pages of bytes [off, off+n) as in memory.
func (n *inode) warmUp(off, length int64) {
	end := min(n.cold, off+min(length, math.MaxInt64-off))
	for index := off / PageSize; index*PageSize < end; index++ {
		word := int(index / 64)
		if word >= len(n.warm) {
			n.warm = append(n.warm, make([]uint64, word+1-len(n.warm))...)
		}
		n.warm[word] |= 1 << (index % 64)
	}
}

// cooled is the size of the pages of bytes [off, off+n) that nobody used since
// the machine booted, bytes.
func (n *inode) cooled(off, length int64) (bytes int64) {
	end := min(n.cold, off+min(length, math.MaxInt64-off))
	for index := off / PageSize; index*PageSize < end; index++ {
		word := int(index / 64)
		if word >= len(n.warm) || n.warm[word]&(1<<(index%64)) == 0 {
			bytes += PageSize
		}
	}
	return bytes
}
