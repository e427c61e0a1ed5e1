package faultdisk

import (
	"math"
	"math/bits"
	"slices"
)

const (
	// PageSize is the unit of the page cache, bytes.
	PageSize = 4096
	// SectorSize is what the device writes whole or not at all, bytes.
	SectorSize = 512
)

// noCut is the cut of a version that was not truncated.
const noCut = math.MaxInt64

// page is one page of cached content. Sectors that are not dirty equal what the
// versions before this one give.
type page struct {
	data  [PageSize]byte
	dirty uint8 // bit k: sector k was written since the last sync was asked
	stray uint8 // bit k: sector k is clean, yet the base may have other bytes; 0 for a page that may leave
	held  bool  // frozen by a sync in flight: copy before writing
}

// sectorOf is a sector of a page, as bytes.
func (p *page) sectorOf(k int) []byte { return p.data[k*SectorSize:][:SectorSize] }

// slot places a page in a file.
type slot struct {
	index int64 // page number: byte offset / PageSize
	page  *page
}

// find gives the position of a page in slots, which are sorted by index, or
// where it would be inserted. Appends hit the last slot, so it is tried first.
func find(slots []slot, index int64) (int, bool) {
	n := len(slots)
	if n == 0 || slots[n-1].index < index {
		return n, false
	}
	if slots[n-1].index == index {
		return n - 1, true
	}
	return slices.BinarySearchFunc(slots, index, func(s slot, i int64) int {
		switch {
		case s.index < i:
			return -1
		case s.index > i:
			return 1
		}
		return 0
	})
}

// sectors is the mask of the sectors that bytes [from, to) of a page touch.
func sectors(from, to int) uint8 {
	first, end := from/SectorSize, (to+SectorSize-1)/SectorSize
	return uint8((1<<end - 1) &^ (1<<first - 1))
}

// allSectors is the mask of a whole page.
const allSectors = 0xff

// dirtyBytes is the size of the sectors in a mask, bytes.
func dirtyBytes(mask uint8) int64 {
	return int64(bits.OnesCount8(mask)) * SectorSize
}

// slabPages is how many pages are made at once at most: a page of its own would be
// an allocation for every 4 KiB written. A small disk doubles what it has.
const slabPages = 64

// take returns a page with arbitrary content.
func (d *Disk) take() *page {
	if n := len(d.free); n > 0 {
		p := d.free[n-1]
		d.free = d.free[:n-1]
		p.dirty, p.stray, p.held = 0, 0, false
		return p
	}
	if len(d.fresh) == 0 {
		d.fresh = make([]page, min(max(d.made, 1), slabPages))
		d.made += len(d.fresh)
	}
	p := &d.fresh[0]
	d.fresh = d.fresh[1:]
	return p
}

// give takes a page back for reuse.
func (d *Disk) give(p *page) { d.free = append(d.free, p) }

// writable returns the page with the given index for writing. whole says that
// all of it will be overwritten, so its content need not be fetched.
func (d *Disk) writable(f *inode, index int64, whole bool) (*page, error) {
	i, ok := find(f.slots, index)
	if !ok {
		p := d.take()
		if !whole {
			if err := d.readBase(f, p.data[:], index*PageSize); err != nil {
				d.give(p)
				return nil, err
			}
		}
		f.slots = slices.Insert(f.slots, i, slot{index, p})
		return p, nil
	}
	p := f.slots[i].page
	if p.held {
		c := d.take()
		c.data, c.stray = p.data, p.stray
		f.slots[i].page = c
		return c, nil
	}
	return p, nil
}

// readCached fills p with what readers see from byte off on.
func (d *Disk) readCached(f *inode, p []byte, off int64) error {
	for len(p) > 0 {
		index, in := off/PageSize, off%PageSize
		i, ok := find(f.slots, index)
		if ok {
			n := copy(p, f.slots[i].page.data[in:])
			p, off = p[n:], off+int64(n)
			continue
		}
		n := int64(len(p))
		if i < len(f.slots) {
			n = min(n, f.slots[i].index*PageSize-off)
		}
		if err := d.readBase(f, p[:n], off); err != nil {
			return err
		}
		p, off = p[n:], off+n
	}
	return nil
}

// readBase fills p with the durable bytes from off on, as far as no truncation
// hides them.
func (d *Disk) readBase(f *inode, p []byte, off int64) error {
	n := min(max(d.visible(f)-off, 0), int64(len(p)))
	clear(p[n:])
	if n == 0 {
		return nil
	}
	d.exposed(f.id, off, n)
	return d.base.ReadAt(f.id, p[:n], off)
}

// visible is the end of the durable bytes that still show through the cache.
func (d *Disk) visible(f *inode) int64 {
	v := f.cut
	if f.flights > 0 {
		for _, fl := range d.flights {
			if fl.ino == f {
				v = min(v, fl.cut)
			}
		}
	}
	return v
}

// cutPages forgets the cached bytes from size on.
func (d *Disk) cutPages(f *inode, size int64) error {
	i, _ := find(f.slots, (size+PageSize-1)/PageSize)
	for _, s := range f.slots[i:] {
		if !s.page.held {
			d.give(s.page)
		}
	}
	f.slots = slices.Delete(f.slots, i, len(f.slots))
	in := int(size % PageSize)
	if in == 0 {
		return nil
	}
	if _, ok := find(f.slots, size/PageSize); !ok {
		return nil
	}
	p, err := d.writable(f, size/PageSize, false)
	if err != nil {
		return err
	}
	clear(p.data[in:])
	return nil
}
