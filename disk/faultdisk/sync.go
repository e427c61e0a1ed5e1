package faultdisk

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"tidemark/disk"
)

// Sync names one asynchronous sync of a disk; numbers are never used twice.
type Sync uint64

// write is one frozen page of a sync in flight.
type write struct {
	index int64
	page  *page
	mask  uint8 // its dirty sectors
	keep  bool  // the base did not get the page: it must stay in the cache
}

// flight is a sync that was asked and did not finish.
type flight struct {
	id  Sync
	ino *inode // a file, a directory, or nil if it can only fail
	err error  // what it fails with
	// lied is the fault that made it complete without effect, nil while it is in
	// flight. It stays a version of the file until an honest sync.
	lied *order

	seq uint64 // of a directory: the last change that it covers

	// The version of a file that it makes durable.
	writes []write
	size   int64
	cut    int64
}

// covers is the mask of the sectors of a page that the sync covers.
func (f *flight) covers(index int64) uint8 {
	i, ok := slices.BinarySearchFunc(f.writes, index, func(w write, index int64) int { return cmp.Compare(w.index, index) })
	if !ok {
		return 0
	}
	return f.writes[i].mask
}

func (d *Disk) newFlight(n *inode) *flight {
	d.lastSync++
	var f *flight
	if k := len(d.freeFlights); k > 0 {
		f = d.freeFlights[k-1]
		d.freeFlights = d.freeFlights[:k-1]
	} else {
		f = new(flight)
	}
	*f = flight{id: d.lastSync, ino: n, writes: f.writes[:0], cut: noCut}
	if n != nil {
		n.refs++
		n.flights++
	}
	d.flights = append(d.flights, f)
	return f
}

// failed is a sync that finishes with err.
func (d *Disk) failed(err error) Sync {
	f := d.newFlight(nil)
	f.err = err
	return f.id
}

// syncFile freezes the newest version of a file.
func (d *Disk) syncFile(n *inode) (Sync, int64) {
	f := d.newFlight(n)
	f.size, f.cut, f.err = n.size, n.cut, n.unreported
	n.cut, n.unreported = noCut, nil
	var dirty int64
	for _, s := range n.slots {
		if p := s.page; p.dirty != 0 {
			f.writes = append(f.writes, write{index: s.index, page: p, mask: p.dirty})
			dirty += dirtyBytes(p.dirty)
			p.dirty, p.held = 0, true
		}
	}
	return f.id, dirty
}

// SyncDir asks for a sync of the names in a directory. It finishes with
// disk.ErrNotExist if there is no such directory.
func (d *Disk) SyncDir(dir string) Sync {
	n := d.lookup(dir)
	if n == nil || !n.dir {
		return d.failed(wrap("sync directory", dir, disk.ErrNotExist))
	}
	f := d.newFlight(n)
	f.seq = d.lastChange
	return f.id
}

// Finish makes durable what a sync covers, and what earlier syncs of the same
// file or directory cover. known is false if there is no such sync: a power loss
// or a wipe took it.
func (d *Disk) Finish(s Sync) (known bool, err error) {
	at := slices.IndexFunc(d.flights, func(f *flight) bool { return f.id == s && f.lied == nil })
	if at < 0 {
		return false, nil
	}
	f := d.flights[at]
	if n := f.ino; n != nil {
		if o := d.strikes(lyingSync, n, 0, math.MaxInt64); o != nil {
			err, f.err = f.err, nil
			d.lie(f, o)
			d.evict()
			return true, err
		}
		for _, e := range d.flights[:at+1] {
			if e.ino == n {
				d.settle(e)
				err = cmp.Or(err, e.err)
			}
		}
	}
	err = cmp.Or(err, f.err)
	d.flights = slices.DeleteFunc(d.flights, func(e *flight) bool {
		over := e == f || e.lied != nil && e.ino == nil
		if over {
			d.freeFlights = append(d.freeFlights, e)
		}
		return over
	})
	d.evict()
	return true, err
}

// settle does the work of a sync; Finish takes it off the list when its own
// turn comes.
func (d *Disk) settle(f *flight) {
	n := f.ino
	o := d.strikes(syncError, n, 0, math.MaxInt64)
	switch {
	case n.dir && o != nil:
		d.hit(o)
		f.err = wrap("sync directory", d.name(n), disk.ErrIO)
	case n.dir:
		f.err = d.commit(n, f.seq)
	case o != nil:
		d.failSync(f, o)
	default:
		err := d.store(f)
		f.err = cmp.Or(f.err, err)
		d.thaw(f, err != nil)
	}
	f.ino = nil
	n.flights--
	if err := d.release(n); f.err == nil {
		f.err = err
	}
}

// store writes a version of a file to the base.
func (d *Disk) store(f *flight) error {
	if err := d.storeCut(f); err != nil {
		return err
	}
	for i := range f.writes {
		if err := d.storePage(f, i); err != nil {
			return err
		}
	}
	return d.storeSize(f)
}

func (d *Disk) storeCut(f *flight) error {
	if f.cut >= d.base.Size(f.ino.id) {
		return nil
	}
	return d.setSize(f.ino.id, f.cut)
}

func (d *Disk) storeSize(f *flight) error {
	if d.base.Size(f.ino.id) == f.size {
		return nil
	}
	return d.setSize(f.ino.id, f.size)
}

// storePage writes one page of a version to the base, where a fault lets it.
func (d *Disk) storePage(f *flight, i int) error {
	w := &f.writes[i]
	if len(d.orders) > 0 {
		off := w.index * PageSize
		if o := d.strikes(lostWrite, f.ino, off, PageSize); o != nil {
			return d.missWrite(f, w, o)
		}
		if o := d.strikes(misdirected, f.ino, off, PageSize); o != nil {
			var before *write
			if i > 0 {
				before = &f.writes[i-1]
			}
			return d.misdirect(f, w, before, o)
		}
	}
	return d.storeSectors(f.ino.id, *w, w.mask, f.size)
}

// storeSectors writes some sectors of a page to the base, as far as they are
// below size. Neighbours go together.
func (d *Disk) storeSectors(id Inode, w write, mask uint8, size int64) error {
	for mask != 0 {
		first := bits.TrailingZeros8(mask)
		end := first + bits.TrailingZeros8(^(mask >> first))
		mask &^= sectors(first*SectorSize, end*SectorSize)
		off := w.index*PageSize + int64(first*SectorSize)
		n := min(int64(end-first)*SectorSize, size-off)
		if n <= 0 {
			return nil
		}
		from := first * SectorSize
		if err := d.put(id, w.page.data[from:from+int(n)], off); err != nil {
			return err
		}
	}
	return nil
}

// thaw lets go of the frozen pages. One that still is the newest of its file
// leaves the cache if the base has it now. What the base did not get (keep, or
// that of the write) stays there clean, so that readers see what they wrote until
// it is evicted or the machine reboots.
func (d *Disk) thaw(f *flight, keep bool) {
	slots, kept, k := f.ino.slots, f.ino.slots[:0], 0
	for _, s := range slots {
		for k < len(f.writes) && f.writes[k].index < s.index {
			k++
		}
		if k == len(f.writes) || f.writes[k].index != s.index {
			kept = append(kept, s)
			continue
		}
		w := &f.writes[k]
		if keep || w.keep {
			s.page.stray |= w.mask
		} else {
			s.page.stray &^= w.mask
		}
		mine := w.page == s.page
		if mine && s.page.stray == 0 {
			continue
		}
		kept = append(kept, s)
		if mine {
			s.page.held = false
			w.page = nil
		}
	}
	clear(slots[len(kept):])
	f.ino.slots = kept
	d.washed(f)
	for _, w := range f.writes {
		if w.page != nil {
			d.give(w.page)
		}
	}
	clear(f.writes)
	f.writes = f.writes[:0]
}
