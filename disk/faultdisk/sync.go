package faultdisk

import (
	"cmp"
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
}

// flight is a sync that was asked and did not finish.
type flight struct {
	id  Sync
	ino *inode // a file, a directory, or nil if it can only fail
	err error  // what it fails with

	seq uint64 // of a directory: the last change that it covers

	// The version of a file that it makes durable.
	writes []write
	size   int64
	cut    int64
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
	f.size, f.cut = n.size, n.cut
	n.cut = noCut
	var dirty int64
	for _, s := range n.slots {
		if p := s.page; p.dirty != 0 {
			f.writes = append(f.writes, write{s.index, p, p.dirty})
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
	at := slices.IndexFunc(d.flights, func(f *flight) bool { return f.id == s })
	if at < 0 {
		return false, nil
	}
	f := d.flights[at]
	if n := f.ino; n != nil {
		for _, e := range d.flights[:at+1] {
			if e.ino == n {
				d.settle(e)
				err = cmp.Or(err, e.err)
			}
		}
	}
	err = cmp.Or(err, f.err)
	d.flights = slices.Delete(d.flights, at, at+1)
	d.freeFlights = append(d.freeFlights, f)
	return true, err
}

// settle does the work of a sync; Finish takes it off the list when its own
// turn comes.
func (d *Disk) settle(f *flight) {
	n := f.ino
	if n.dir {
		f.err = d.commit(n, f.seq)
	} else {
		f.err = d.store(f)
		d.thaw(f)
	}
	f.ino = nil
	n.flights--
	if err := d.release(n); f.err == nil {
		f.err = err
	}
}

// store writes a version of a file to the base.
func (d *Disk) store(f *flight) error {
	id := f.ino.id
	if f.cut < d.base.Size(id) {
		if err := d.base.Truncate(id, f.cut); err != nil {
			return err
		}
	}
	for _, w := range f.writes {
		if err := d.storeSectors(id, w, w.mask, f.size); err != nil {
			return err
		}
	}
	if d.base.Size(id) == f.size {
		return nil
	}
	return d.base.Truncate(id, f.size)
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
		if err := d.base.WriteAt(id, w.page.data[from:from+int(n)], off); err != nil {
			return err
		}
	}
	return nil
}

// thaw lets go of the frozen pages. One that still is the newest of its file
// leaves the cache, as the base has it now; after an error it stays there clean,
// so readers see what they wrote until the machine reboots, as on Linux.
func (d *Disk) thaw(f *flight) {
	slots, kept, k := f.ino.slots, f.ino.slots[:0], 0
	for _, s := range slots {
		for k < len(f.writes) && f.writes[k].index < s.index {
			k++
		}
		mine := k < len(f.writes) && f.writes[k].page == s.page
		if !mine || f.err != nil {
			kept = append(kept, s)
		}
		if mine && f.err != nil {
			s.page.held = false
			f.writes[k].page = nil
		}
	}
	clear(slots[len(kept):])
	f.ino.slots = kept
	for _, w := range f.writes {
		if w.page != nil {
			d.give(w.page)
		}
	}
	clear(f.writes)
	f.writes = f.writes[:0]
}
