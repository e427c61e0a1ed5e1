package faultdisk

import "slices"

// Loss says what a power loss leaves of what was not synced.
type Loss uint8

const (
	// LoseAll leaves exactly what was synced, or written back by a full page cache.
	LoseAll Loss = iota
	// LoseNone leaves everything, as if the kernel had just written it back.
	LoseNone
	// LoseRandom leaves a random part, see the package comment.
	LoseRandom
)

// shape is the way in which a file, or the names, survive a power loss.
type shape uint8

const (
	nothing    shape = iota // as the last sync left it
	everything              // as the cache had it
	cutShort                // a prefix of the dirty sectors, size to match
	zeroTail                // a prefix of the dirty sectors, full size
	scattered               // each sector by itself, any version's size
	shapes
)

// lottery decides what survives.
type lottery struct {
	loss   Loss
	choose func(n uint64) uint64

	shape shape
	left  uint64 // of a prefix: how many items survive yet
}

// begin draws the shape for a file with n dirty sectors, or for n changes.
func (l *lottery) begin(n uint64) {
	switch l.loss {
	case LoseAll:
		l.shape = nothing
	case LoseNone:
		l.shape = everything
	default:
		l.shape = shape(l.choose(uint64(shapes)))
	}
	if l.shape == cutShort || l.shape == zeroTail {
		l.left = l.choose(n + 1)
	}
}

// survives decides on the next item.
func (l *lottery) survives() bool {
	switch l.shape {
	case nothing:
		return false
	case everything:
		return true
	case scattered:
		return l.choose(2) == 1
	}
	if l.left == 0 {
		return false
	}
	l.left--
	return true
}

// version decides whose size and cut survive, of 0 (the durable one) to last.
func (l *lottery) version(last int) int {
	switch l.shape {
	case nothing:
		return 0
	case scattered:
		return int(l.choose(uint64(last) + 1))
	}
	return last
}

// PowerLoss ends the incarnation and loses what was not synced as loss says.
// choose draws from [0, n) and is used for LoseRandom only. An error is one of
// the base.
func (d *Disk) PowerLoss(loss Loss, choose func(n uint64) uint64) error {
	d.stats.PowerLoss.Fired++
	l := &lottery{loss: loss, choose: choose}
	lost, err := d.loseNames(l)
	if err != nil {
		return err
	}
	for _, n := range d.sorted() {
		if n.dir {
			continue
		}
		gone, err := d.loseSectors(n, l)
		if err != nil {
			return err
		}
		lost = lost || gone && n.named
	}
	if lost {
		d.stats.PowerLoss.Effective++
	}
	return d.reboot()
}

// loseNames makes the surviving changes of names durable and says whether any
// was lost.
func (d *Disk) loseNames(l *lottery) (lost bool, err error) {
	if len(d.journal) == 0 {
		return false, nil
	}
	l.begin(uint64(len(d.journal)))
	keep := make([]bool, len(d.journal))
	for i := range d.journal {
		keep[i] = l.survives()
		for j := range i {
			keep[i] = keep[i] && (keep[j] || !d.journal[i].needs(&d.journal[j]))
		}
		lost = lost || !keep[i]
		if o := d.journal[i].lied; o != nil && !keep[i] {
			d.hit(o)
		}
	}
	return lost, d.apply(keep)
}

// chain lists the versions of a file that are not durable, the oldest first.
func (d *Disk) chain(n *inode) (versions []flight, dirty uint64) {
	for _, f := range d.flights {
		if f.ino == n {
			versions = append(versions, *f)
		}
	}
	now := flight{ino: n, size: n.size, cut: n.cut}
	for _, s := range n.slots {
		if s.page.dirty != 0 {
			now.writes = append(now.writes, write{index: s.index, page: s.page, mask: s.page.dirty})
		}
	}
	versions = append(versions, now)
	for _, v := range versions {
		for _, w := range v.writes {
			dirty += uint64(dirtyBytes(w.mask) / SectorSize)
		}
	}
	return versions, dirty
}

// loseSectors makes the surviving part of a file durable and says whether it
// differs from what readers saw.
func (d *Disk) loseSectors(n *inode, l *lottery) (lost bool, err error) {
	durable := d.base.Size(n.id)
	if len(n.slots) == 0 && n.flights == 0 && n.cut == noCut && n.size == durable {
		return false, nil
	}
	versions, dirty := d.chain(n)
	l.begin(dirty)
	survivor := l.version(len(versions))
	size, lost := durable, false
	for i, v := range versions {
		if i < survivor {
			size = v.size
		}
		if v.cut < d.base.Size(n.id) {
			if i >= survivor {
				lost = true
			} else if err := d.setSize(n.id, v.cut); err != nil {
				return false, err
			}
		}
		if err := d.surviving(n, v, l); err != nil {
			return false, err
		}
	}
	if l.shape == cutShort {
		size = min(size, d.base.Size(n.id))
	}
	if err := d.setSize(n.id, size); err != nil {
		return false, err
	}
	if err := d.showLies(n, versions); err != nil {
		return false, err
	}
	if lost || size != n.size {
		return true, nil
	}
	return d.differs(n)
}

// surviving writes those sectors of a version to the base that the lottery
// spares.
func (d *Disk) surviving(n *inode, v flight, l *lottery) error {
	for _, w := range v.writes {
		var mask uint8
		for bit := uint8(1); bit != 0; bit <<= 1 {
			if w.mask&bit != 0 && l.survives() {
				mask |= bit
			}
		}
		if err := d.storeSectors(n.id, w, mask, v.size); err != nil {
			return err
		}
	}
	return nil
}

// differs says whether the base has other bytes than a page in the cache.
func (d *Disk) differs(n *inode) (bool, error) {
	p := d.take()
	defer d.give(p)
	for _, s := range n.slots {
		size := min(PageSize, max(n.size-s.index*PageSize, 0))
		if err := d.base.ReadAt(n.id, p.data[:size], s.index*PageSize); err != nil {
			return false, err
		}
		if string(p.data[:size]) != string(s.page.data[:size]) {
			return true, nil
		}
	}
	return false, nil
}

// reboot builds the cache anew from the base and frees what no name leads to.
func (d *Disk) reboot() error {
	before := d.sorted()
	d.journal, d.flights = nil, nil
	d.boot()
	for _, n := range before {
		if d.inodes[n.id] != nil {
			continue
		}
		if err := d.forget(n.id); err != nil {
			return err
		}
	}
	return nil
}

// Kill ends the incarnation and loses nothing: the process died or stopped, the
// kernel lives. Syncs in flight may still finish.
func (d *Disk) Kill() error {
	d.life++
	d.flights = slices.DeleteFunc(d.flights, func(f *flight) bool { return f.ino == nil })
	for _, n := range d.sorted() {
		if n.handles == 0 {
			continue
		}
		n.refs -= n.handles - 1
		n.handles = 0
		if err := d.release(n); err != nil {
			return err
		}
	}
	return nil
}

// Wipe ends the incarnation and empties the disk.
func (d *Disk) Wipe() error {
	d.stats.Wipe.Fired++
	durable := slices.Clone(d.base.List(Root))
	if len(durable)+len(d.root.entries) > 0 {
		d.stats.Wipe.Effective++
	}
	for _, e := range durable {
		if err := d.base.Unlink(Root, e.Name); err != nil {
			return err
		}
	}
	return d.reboot()
}
