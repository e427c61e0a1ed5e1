package faultdisk

import "slices"

// A scar is a sector of the base that holds wrong bytes: a write to it was lost
// or went elsewhere, or something else was written over it, or a bit flipped.
// Scars say only who is to blame, so that a fault counts as effective once a
// reader gets those bytes. They heal when the sector is written or cut off, not
// by a reboot.
type scar struct {
	file   Inode
	sector int64 // byte offset / SectorSize
}

// scarred blames o for a sector.
func (d *Disk) scarred(file Inode, off int64, o *order) {
	if d.scars == nil {
		d.scars = map[scar]*order{}
	}
	d.scars[scar{file, off / SectorSize}] = o
}

// exposed counts the scars in n bytes at off that a reader gets.
func (d *Disk) exposed(file Inode, off, n int64) {
	if len(d.scars) == 0 || d.quiet {
		return
	}
	for s := off / SectorSize; s*SectorSize < off+n; s++ {
		if o := d.scars[scar{file, s}]; o != nil {
			d.hit(o)
		}
	}
}

// put writes bytes to the base that are right.
func (d *Disk) put(file Inode, p []byte, off int64) error {
	if len(d.scars) > 0 {
		for s := off / SectorSize; s*SectorSize < off+int64(len(p)); s++ {
			delete(d.scars, scar{file, s})
		}
	}
	return d.base.WriteAt(file, p, off)
}

// setSize sets the size of a file in the base.
func (d *Disk) setSize(file Inode, size int64) error {
	for s := range d.scars { // unordered: deletes only
		if s.file == file && s.sector*SectorSize >= size {
			delete(d.scars, s)
		}
	}
	return d.base.Truncate(file, size)
}

// forget frees an inode of the base.
func (d *Disk) forget(file Inode) error {
	for s := range d.scars { // unordered: deletes only
		if s.file == file {
			delete(d.scars, s)
		}
	}
	return d.base.Forget(file)
}

// pin keeps a page that is in memory in the cache: what comes over its bytes in
// the base must not reach its readers.
func (d *Disk) pin(n *inode, index int64) error {
	i, ok := find(n.slots, index)
	if ok {
		n.slots[i].page.stray = allSectors
		return nil
	}
	if d.missing(n, index*PageSize, 1) > 0 {
		return nil
	}
	p := d.take()
	p.stray = allSectors
	d.quiet = true
	err := d.readBase(n, p.data[:], index*PageSize)
	d.quiet = false
	if err != nil {
		d.give(p)
		return err
	}
	n.slots = slices.Insert(n.slots, i, slot{index, p})
	return nil
}
