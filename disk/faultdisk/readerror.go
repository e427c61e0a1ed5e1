package faultdisk

import "tidemark/disk"

// FailReads lets reads fail with disk.ErrIO that must go to the device. What is
// in the page cache is still read.
func (d *Disk) FailReads(t Target) { d.order(order{kind: readError, target: t}) }

// read fills p from byte off on, from the cache or the device.
func (d *Disk) read(f *inode, p []byte, off int64) error {
	n := int64(len(p))
	if err := d.fetch(f, off, n); err != nil {
		return err
	}
	if err := d.readCached(f, p, off); err != nil {
		return err
	}
	if len(d.flips) > 0 {
		d.seen(f, off, n)
	}
	d.touch(f, off, n)
	return nil
}

// fetchPartial asks the device for the pages that a write covers in part only.
func (d *Disk) fetchPartial(f *inode, off, n int64) error {
	if len(d.orders) > 0 && d.partial(f, off, n) > 0 {
		if err := d.fetch(f, off, n); err != nil {
			return err
		}
	}
	if !d.Bounded() {
		f.warmUp(off, n)
	}
	return nil
}

// fetch asks the device for the pages of n bytes at off that are not in memory.
func (d *Disk) fetch(f *inode, off, n int64) error {
	if len(d.orders) == 0 || d.missing(f, off, n) == 0 {
		return nil
	}
	if o := d.strikes(readError, f, off, n); o != nil {
		d.hit(o)
		return wrap("read", d.name(f), disk.ErrIO)
	}
	return nil
}
