package faultdisk

import "tidemark/disk"

// LimitSpace lets files grow until the sum of their sizes is capacity, bytes; a
// write that goes beyond is short and fails with disk.ErrNoSpace, as does any
// new name on a full disk. A hole counts as if it was written, and a removed
// file as long as a handle is open. Overwriting needs no space.
func (d *Disk) LimitSpace(capacity int64) {
	d.capacity = capacity
	d.noSpace = d.order(order{kind: noSpace, target: Target{Path: allPaths}})
}

// full is the error of an operation that found no space.
func (d *Disk) full(op, name string) error {
	d.hit(d.noSpace)
	return wrap(op, name, disk.ErrNoSpace)
}

// room is the size up to which a file that wants to end at end may grow.
func (d *Disk) room(f *inode, end int64) int64 {
	if d.capacity == 0 || end <= f.size {
		return end
	}
	return min(end, f.size+max(d.capacity-d.used(), 0))
}

// crowded tells that there is no space for another name.
func (d *Disk) crowded() bool { return d.capacity > 0 && d.used() >= d.capacity }

// used is the sum of the sizes of all files, bytes.
func (d *Disk) used() int64 {
	var sum int64
	for _, n := range d.inodes { // unordered: a sum
		if n.named || n.handles > 0 {
			sum += n.size
		}
	}
	return sum
}
