package faultdisk

import (
	"cmp"
	"slices"

	"tidemark/disk"
)

// Aftermath is what a file system makes of the pages of a failed fsync. None of
// them is dirty afterwards, so the next fsync succeeds and proves nothing; that
// is common to all of Linux. What readers see differs (Rebello et al., "Can
// Applications Recover from fsync Failures?", USENIX ATC 2020).
type Aftermath uint8

const (
	// Keeps: the page cache keeps the new content until the page is evicted or the
	// machine reboots; size and truncation are durable, the data is not (ext4 with
	// ordered data; XFS does likewise).
	Keeps Aftermath = iota
	// Reverts: data and size are as before in the cache too. What was written
	// after the call stands, behind a hole if it was an append (btrfs).
	Reverts
	// Gone: the page leaves the cache at once. The size is new, the data is what
	// the disk has: old bytes, zeros where there were none.
	Gone
)

// FailSyncs lets syncs fail with disk.ErrIO. The names of a directory stay
// pending: its next sync may make them durable.
func (d *Disk) FailSyncs(t Target, after Aftermath) {
	d.order(order{kind: syncError, target: t, after: after})
}

// failSync ends the sync of a file that fault o strikes.
func (d *Disk) failSync(f *flight, o *order) {
	d.hit(o)
	n := f.ino
	f.err = cmp.Or(f.err, wrap("sync", d.name(n), disk.ErrIO))
	if o.after != Reverts {
		f.err = cmp.Or(d.storeCut(f), d.storeSize(f), f.err)
	}
	if o.after == Keeps {
		d.thaw(f, true)
		return
	}
	if o.after == Reverts {
		d.revertSizes(f)
	}
	f.cut = noCut
	f.err = cmp.Or(f.err, d.revert(f))
	d.thaw(f, false)
}

// revertSizes gives the versions of a file that came after a failed one the size
// that they would have without it: the base's if nothing else was done, at least
// that if something was written, and their own after a truncation.
func (d *Disk) revertSizes(f *flight) {
	n, base := f.ino, d.base.Size(f.ino.id)
	changed, cut := false, false
	size := func(own, lowest int64, written bool) int64 {
		changed = changed || written || own != f.size
		cut = cut || lowest != noCut
		switch {
		case cut:
			return own
		case changed:
			return max(own, base)
		}
		return base
	}
	for _, g := range d.flights {
		if g.id > f.id && g.ino == n {
			g.size = size(g.size, g.cut, len(g.writes) > 0)
		}
	}
	dirty := slices.ContainsFunc(n.slots, func(s slot) bool { return s.page.dirty != 0 })
	n.size = size(n.size, n.cut, dirty)
}

// revert gives readers what the disk has, in every sector of the file that was
// not written since the sync was asked. A page that cannot be read stays as it is.
func (d *Disk) revert(f *flight) (failed error) {
	n, kept := f.ino, f.ino.slots[:0]
	old := d.take()
	defer d.give(old)
	for _, s := range n.slots {
		newer := s.page.dirty | d.frozen(n, s.index, f)
		if newer == 0 {
			d.residents.drop(n, s.index)
			if !s.page.held {
				d.give(s.page)
			}
			continue
		}
		kept = append(kept, s)
		if err := d.readBase(n, old.data[:], s.index*PageSize); err != nil {
			failed = cmp.Or(failed, err)
			continue
		}
		for k := range PageSize / SectorSize {
			if newer&(1<<k) == 0 {
				copy(s.page.sectorOf(k), old.sectorOf(k))
			}
		}
	}
	clear(n.slots[len(kept):])
	n.slots = kept
	return failed
}

// frozen is the mask of a page's sectors that syncs in flight cover, other than
// one of them.
func (d *Disk) frozen(n *inode, index int64, but *flight) (mask uint8) {
	if n.flights == 0 {
		return 0
	}
	for _, f := range d.flights {
		if f.ino == n && f != but {
			mask |= f.covers(index)
		}
	}
	return mask
}
