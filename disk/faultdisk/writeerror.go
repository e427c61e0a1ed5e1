package faultdisk

import "tidemark/disk"

// FailWrites lets writes and truncations fail with disk.ErrIO. short lets the
// first half of a write's bytes into the cache before it fails.
func (d *Disk) FailWrites(t Target, short bool) {
	d.order(order{kind: writeError, target: t, short: short})
}

// admit cuts a write down to what the device takes and says why, nil if it takes
// all.
func (d *Disk) admit(f *inode, p []byte, off int64) ([]byte, error) {
	if len(d.orders) > 0 {
		if o := d.strikes(writeError, f, off, int64(len(p))); o != nil {
			d.hit(o)
			taken := 0
			if o.short {
				taken = len(p) / 2
			}
			return p[:taken], wrap("write", d.name(f), disk.ErrIO)
		}
	}
	if room := d.room(f, off+int64(len(p))) - off; room < int64(len(p)) {
		return p[:max(room, 0)], d.full("write", d.name(f))
	}
	return p, nil
}

// resize says why a file cannot get a size, nil if it can.
func (d *Disk) resize(f *inode, size int64) error {
	if len(d.orders) > 0 {
		if o := d.strikes(writeError, f, min(size, f.size), max(size, f.size)); o != nil {
			d.hit(o)
			return wrap("truncate", d.name(f), disk.ErrIO)
		}
	}
	if d.room(f, size) < size {
		return d.full("truncate", d.name(f))
	}
	return nil
}
