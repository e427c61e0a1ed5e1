package faultdisk

// LieOnSyncs lets syncs succeed that make nothing durable: the device keeps the
// bytes in a cache of its own that loses its content with the power. The next
// honest sync of the same file or directory writes them out.
func (d *Disk) LieOnSyncs(t Target) { d.order(order{kind: lyingSync, target: t}) }

// lie keeps a sync that the device only says to have done: its version of the
// file stays one that a power loss can take.
func (d *Disk) lie(f *flight, o *order) {
	n := f.ino
	f.lied = o
	if !n.dir {
		d.washed(f)
		return
	}
	for i := range d.journal {
		if c := &d.journal[i]; c.touches(n) && c.seq <= f.seq {
			c.lied = o
		}
	}
}

// showLies counts the lies that a power loss brought to light: a sector that a
// lying sync covered, that nobody wrote since, and that the base does not have.
func (d *Disk) showLies(n *inode, versions []flight) error {
	for i, v := range versions {
		if v.lied == nil || v.lied.hit {
			continue
		}
		for _, w := range v.writes {
			w.mask &^= rewritten(versions[i+1:], w.index)
			shown, err := d.lacks(n, w)
			if err != nil {
				return err
			}
			if shown {
				d.hit(v.lied)
			}
		}
	}
	return nil
}

// rewritten is the mask of a page's sectors that some versions cover.
func rewritten(versions []flight, index int64) (mask uint8) {
	for i := range versions {
		mask |= versions[i].covers(index)
	}
	return mask
}

// lacks tells whether the base misses a sector of a write, as far as the file
// reaches in the cache.
func (d *Disk) lacks(n *inode, w write) (bool, error) {
	got := d.take()
	defer d.give(got)
	if err := d.base.ReadAt(n.id, got.data[:], w.index*PageSize); err != nil {
		return false, err
	}
	lacks := false
	err := d.eachSector(&w, n.size, func(k int, size int64) error {
		end := w.index*PageSize + int64(k*SectorSize) + size
		lacks = lacks || end > d.base.Size(n.id) || string(w.page.sectorOf(k)[:size]) != string(got.sectorOf(k)[:size])
		return nil
	})
	return lacks, err
}
