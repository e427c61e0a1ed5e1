package faultdisk

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// The share of the page cache that may be dirty, in percent: a writer that goes
// over the ratio writes back until the background ratio is reached, the oldest
// files first (vm.dirty_ratio and vm.dirty_background_ratio of Linux).
const (
	dirtyRatio      = 20
	backgroundRatio = 10
)

// SetPageCache bounds the page cache from now on, bytes (at least 64 KiB, of
// whole pages). What was clean in it is dropped. Before, everything that was used
// since the machine booted stays in memory.
//
// A full cache evicts the clean pages that were not used for longest; dirty ones
// are written back first, so that a power loss finds them durable. Writing back
// is a sync of the kernel's own; if it fails, the file's next sync says so.
func (d *Disk) SetPageCache(bytes int64) {
	d.residents.reset(max(bytes, 64<<10) / PageSize)
	for _, n := range d.sorted() {
		n.pages, n.dirty = 0, 0
	}
	for _, n := range d.sorted() {
		for _, s := range n.slots {
			if s.page.dirty != 0 || d.beingWritten(n, s.index, nil) {
				d.residents.soil(n, s.index)
			} else {
				d.residents.use(n, s.index)
			}
		}
	}
	d.evict()
}

// Bounded tells that the page cache has a bound.
func (d *Disk) Bounded() bool { return d.residents.limit > 0 }

// missing is the size of those pages under n bytes at off that are not in
// memory, bytes.
func (d *Disk) missing(f *inode, off, n int64) (bytes int64) {
	if !d.Bounded() {
		return f.cooled(off, n)
	}
	end := min(f.size, off+min(n, math.MaxInt64-off))
	for index := off / PageSize; index*PageSize < end; index++ {
		if !d.residents.has(f, index) {
			bytes += PageSize
		}
	}
	return bytes
}

// partial is the same for a write: only pages that it covers in part are read.
func (d *Disk) partial(f *inode, off, n int64) (bytes int64) {
	first, last := off/PageSize, (off+n-1)/PageSize
	if n <= 0 {
		return 0
	}
	if off%PageSize != 0 || first == last && n < PageSize {
		bytes = d.missing(f, first*PageSize, 1)
	}
	if last > first && (off+n)%PageSize != 0 {
		bytes += d.missing(f, last*PageSize, 1)
	}
	return bytes
}

// touch notes that n bytes at off were read.
func (d *Disk) touch(f *inode, off, n int64) {
	if !d.Bounded() {
		f.warmUp(off, n)
		return
	}
	end := min(f.size, off+n)
	for index := off / PageSize; index*PageSize < end; index++ {
		d.residents.use(f, index)
	}
	d.evict()
}

// evict lets go of what does not fit. A clean page that differs from the base,
// because a sync of it failed or the base was damaged, is lost with it.
func (d *Disk) evict() {
	for _, k := range d.residents.evict() {
		i, ok := find(k.file.slots, k.index)
		if !ok || d.frozen(k.file, k.index, nil) != 0 {
			continue
		}
		d.give(k.file.slots[i].page)
		k.file.slots = slices.Delete(k.file.slots, i, i+1)
	}
}

// washed notes that a sync, which still is on the list, has cleaned its pages.
func (d *Disk) washed(f *flight) {
	if !d.Bounded() {
		return
	}
	for _, w := range f.writes {
		i, ok := find(f.ino.slots, w.index)
		if ok && f.ino.slots[i].page.dirty != 0 || d.beingWritten(f.ino, w.index, f) {
			continue
		}
		d.residents.wash(f.ino, w.index)
	}
}

// beingWritten tells that a sync in flight, other than one of them, covers a
// page.
func (d *Disk) beingWritten(n *inode, index int64, but *flight) bool {
	return n.flights > 0 && slices.ContainsFunc(d.flights, func(f *flight) bool {
		return f != but && f.ino == n && f.lied == nil && f.covers(index) != 0
	})
}

// balance writes files back if too much is dirty.
func (d *Disk) balance() {
	r := &d.residents
	if r.limit == 0 || r.dirty*100 <= r.limit*dirtyRatio {
		d.evict()
		return
	}
	for r.dirty*100 > r.limit*backgroundRatio && len(r.waiting) > 0 {
		before := r.dirty
		if d.writeBack(r.waiting[0]); r.dirty >= before {
			panic(fmt.Sprintf("faultdisk: writing back left %d pages dirty, of %d", r.dirty, before))
		}
	}
	d.evict()
}

// writeBack makes a file durable. An error is for the file's next sync to tell.
func (d *Disk) writeBack(n *inode) {
	s, dirty := d.syncFile(n)
	d.forced += dirty
	if _, err := d.Finish(s); err != nil {
		n.unreported = cmp.Or(n.unreported, err)
	}
}

// Forced is how much the page cache had to write back since the last call,
// bytes.
func (d *Disk) Forced() int64 {
	n := d.forced
	d.forced = 0
	return n
}
