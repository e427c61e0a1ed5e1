package faultdisk

// LoseWrites lets the device say that it wrote a page, and write nothing. Sizes
// are written: they are not the file's own bytes.
func (d *Disk) LoseWrites(t Target) { d.order(order{kind: lostWrite, target: t}) }

// missWrite leaves the base as it is where a page should have been written, and
// the page in the cache.
func (d *Disk) missWrite(f *flight, w *write, o *order) error {
	w.keep = true
	return d.eachSector(w, f.size, func(k int, n int64) error {
		off := w.index*PageSize + int64(k*SectorSize)
		var old [SectorSize]byte
		if err := d.base.ReadAt(f.ino.id, old[:n], off); err != nil {
			return err
		}
		if string(old[:n]) != string(w.page.sectorOf(k)[:n]) {
			d.scarred(f.ino.id, off, o)
		}
		return nil
	})
}

// eachSector calls do for every sector of a write that begins below size, with
// its number in the page and how much of it is below size, bytes.
func (d *Disk) eachSector(w *write, size int64, do func(k int, n int64) error) error {
	for k := range PageSize / SectorSize {
		n := min(size-w.index*PageSize-int64(k*SectorSize), SectorSize)
		if w.mask&(1<<k) == 0 || n <= 0 {
			continue
		}
		if err := do(k, n); err != nil {
			return err
		}
	}
	return nil
}
