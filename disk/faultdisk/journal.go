package faultdisk

// binding is what one change does to one name: it led to was and leads to now;
// nil is no file.
type binding struct {
	dir      *inode
	name     string
	was, now *inode
}

// change is one pending change of the names: a create, a mkdir, an unlink (one
// binding) or a rename (two, the old name first). It becomes durable as a whole.
type change struct {
	seq uint64
	n   int
	set [2]binding
	// lied is the fault for which a sync said that the change is durable.
	lied *order
}

// record notes a change that the cached names already show.
func (d *Disk) record(c change) {
	d.lastChange++
	c.seq = d.lastChange
	for _, b := range c.set[:c.n] {
		if b.now != nil {
			b.now.refs++
		}
	}
	d.journal = append(d.journal, c)
}

func (c *change) touches(dir *inode) bool {
	return c.set[0].dir == dir || c.n == 2 && c.set[1].dir == dir
}

// crosses says that the change reaches beyond one directory.
func (c *change) crosses() bool { return c.n == 2 && c.set[0].dir != c.set[1].dir }

// moves says that a directory gets another parent.
func (c *change) moves() bool { return c.crosses() && c.set[1].now.dir }

// rmdir is the directory that the change removes, nil if none.
func (c *change) rmdir() *inode {
	if w := c.set[0].was; c.n == 1 && w != nil && w.dir {
		return w
	}
	return nil
}

// needs says that c can be durable only if the earlier change e is.
func (c *change) needs(e *change) bool {
	if r := c.rmdir(); r != nil && e.touches(r) || c.moves() && e.moves() {
		return true
	}
	for i := range c.n {
		for j := range e.n {
			if c.set[i].dir == e.set[j].dir && c.set[i].name == e.set[j].name {
				return true
			}
		}
	}
	return false
}

// commit makes the changes in dir up to seq durable, and what they need.
func (d *Disk) commit(dir *inode, seq uint64) error {
	take := make([]bool, len(d.journal))
	for i := len(d.journal) - 1; i >= 0; i-- {
		c := &d.journal[i]
		here := c.touches(dir) && c.seq <= seq
		if !here && !take[i] {
			continue
		}
		take[i] = true
		if here && !c.crosses() && c.rmdir() == nil {
			continue // needs only changes of dir, which are taken anyway
		}
		for j := range i {
			take[j] = take[j] || c.needs(&d.journal[j])
		}
	}
	return d.apply(take)
}

// apply takes the chosen changes out of the journal and into the base.
func (d *Disk) apply(take []bool) error {
	journal, kept := d.journal, d.journal[:0]
	var first error
	for i, c := range journal {
		if !take[i] {
			kept = append(kept, c)
			continue
		}
		if err := d.applyChange(&c); err != nil && first == nil {
			first = err
		}
	}
	clear(journal[len(kept):])
	d.journal = kept
	return first
}

// applyChange makes one change durable. The reference of the pending change
// becomes the one of the durable name.
func (d *Disk) applyChange(c *change) error {
	for i := range c.n {
		b := &c.set[i]
		var err error
		if b.now != nil {
			err = d.base.Link(b.dir.id, Entry{Name: b.name, Inode: b.now.id, Dir: b.now.dir})
		} else {
			err = d.base.Unlink(b.dir.id, b.name)
		}
		if err != nil {
			return wrap("sync directory entry", b.name, err)
		}
	}
	for _, b := range c.set[:c.n] {
		if b.was == nil {
			continue
		}
		if err := d.release(b.was); err != nil {
			return err
		}
	}
	return nil
}
