package faultdisk

// MisdirectWrites lets the device write a page to the wrong place: over the page
// before it in the same file, and for a file's first page where no file is.
func (d *Disk) MisdirectWrites(t Target) { d.order(order{kind: misdirected, target: t}) }

// misdirect writes a page over the one before it. before is the write of that
// page in the same sync, nil if there is none.
func (d *Disk) misdirect(f *flight, w, before *write, o *order) error {
	if err := d.missWrite(f, w, o); err != nil || w.index == 0 {
		return err
	}
	n, victim := f.ino, w.index-1
	if err := d.pin(n, victim); err != nil {
		return err
	}
	if before != nil && before.index == victim {
		before.keep = true
	}
	return d.eachSector(w, f.size, func(k int, size int64) error {
		off := victim*PageSize + int64(k*SectorSize)
		var old [SectorSize]byte
		if err := d.base.ReadAt(n.id, old[:size], off); err != nil {
			return err
		}
		data := w.page.sectorOf(k)[:size]
		if string(old[:size]) != string(data) {
			d.scarred(n.id, off, o)
		}
		return d.base.WriteAt(n.id, data, off)
	})
}
