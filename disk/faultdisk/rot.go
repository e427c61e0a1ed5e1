package faultdisk

// flipped is a bit that flipped in the page cache.
type flipped struct {
	file  *inode
	off   int64
	value byte // as it is since then
	by    *order
}

// Rot flips a bit of a file, 0 to 7 of the byte at off: on the medium, where a
// page that is in memory hides it from readers, or, with Cached, in the page
// cache, where it is gone after a reboot unless the page is written out. It
// reports whether there was such a byte: one that was never written out is on no
// medium, one that nobody read in no cache.
func (d *Disk) Rot(s Side, name string, off int64, bit uint8) (bool, error) {
	o := &order{kind: rot}
	d.stats.Rot.Fired++
	n := d.lookup(name)
	if n == nil || n.dir || off < 0 || off >= n.size {
		return false, nil
	}
	if s == Cached {
		return d.rotCached(n, off, bit, o)
	}
	if off >= d.base.Size(n.id) {
		return false, nil
	}
	if err := d.pin(n, off/PageSize); err != nil {
		return false, err
	}
	var b [1]byte
	if err := d.base.ReadAt(n.id, b[:], off); err != nil {
		return false, err
	}
	b[0] ^= 1 << (bit & 7)
	d.scarred(n.id, off, o)
	return true, d.base.WriteAt(n.id, b[:], off)
}

func (d *Disk) rotCached(n *inode, off int64, bit uint8, o *order) (bool, error) {
	if err := d.pin(n, off/PageSize); err != nil {
		return false, err
	}
	i, ok := find(n.slots, off/PageSize)
	if !ok {
		return false, nil
	}
	b := &n.slots[i].page.data[off%PageSize]
	*b ^= 1 << (bit & 7)
	d.flips = append(d.flips, flipped{n, off, *b, o})
	return true, nil
}

// seen counts the flips in the cache that a reader of n bytes at off gets.
func (d *Disk) seen(f *inode, off, n int64) {
	for _, x := range d.flips {
		if x.file != f || x.off < off || x.off >= off+n {
			continue
		}
		if i, ok := find(f.slots, x.off/PageSize); ok && f.slots[i].page.data[x.off%PageSize] == x.value {
			d.hit(x.by)
		}
	}
}
