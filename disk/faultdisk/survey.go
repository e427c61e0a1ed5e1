package faultdisk

import (
	"bytes"
	"slices"
	"strings"
)

// Survey is what a power loss at one moment could leave, for a caller who wants to
// see every outcome and not a drawn one. It loses nothing: names and contents come
// out as copies, to be put on a disk of their own. It is valid until the disk's next
// operation.
//
//	pending changes ── which survive? ──▶ a tree of names ──▶ of each file: which content?
//
// Faults that were ordered are not regarded, nor what a full page cache evicted.
type Survey struct {
	d *Disk
}

// Survey looks at what is not durable now.
func (d *Disk) Survey() Survey { return Survey{d} }

// Changes is the number of changes of names that are not durable.
func (s Survey) Changes() int { return len(s.d.journal) }

// Close drops from a choice of the changes those that cannot survive without one
// that does not, see the package comment.
func (s Survey) Close(keep []bool) {
	for i := range keep {
		for j := range i {
			keep[i] = keep[i] && (keep[j] || !s.d.journal[i].needs(&s.d.journal[j]))
		}
	}
}

// Names is the tree that is left if the chosen changes survive, which are closed:
// every path, directories with a trailing slash, and what it leads to, in the order
// of the paths' elements.
func (s Survey) Names(keep []bool) []Entry {
	dirs := map[Inode][]Entry{}
	s.copyDirs(dirs, Root)
	for i, c := range s.d.journal {
		if !keep[i] {
			continue
		}
		for _, b := range c.set[:c.n] {
			names := slices.DeleteFunc(dirs[b.dir.id], func(e Entry) bool { return e.Name == b.name })
			if b.now != nil {
				names = append(names, Entry{Name: b.name, Inode: b.now.id, Dir: b.now.dir})
			}
			dirs[b.dir.id] = names
		}
	}
	return listTree(nil, dirs, "", Root)
}

func (s Survey) copyDirs(dirs map[Inode][]Entry, dir Inode) {
	dirs[dir] = slices.Clone(s.d.base.List(dir))
	for _, e := range dirs[dir] {
		if e.Dir {
			s.copyDirs(dirs, e.Inode)
		}
	}
}

func listTree(all []Entry, dirs map[Inode][]Entry, prefix string, dir Inode) []Entry {
	names := dirs[dir]
	slices.SortStableFunc(names, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	for _, e := range names {
		path := prefix + e.Name
		if e.Dir {
			path += "/"
		}
		all = append(all, Entry{Name: path, Inode: e.Inode, Dir: e.Dir})
		if e.Dir {
			all = listTree(all, dirs, path, e.Inode)
		}
	}
	return all
}

// Contents are the contents that a file may have afterwards, each once: first the
// durable one (nothing survives), then the one that readers see (everything does),
// then for the first, the middle and the last of its dirty sectors: what ends before
// it, cut short and with a tail of zeros; all but it; and the last sector torn in the
// middle of what is new in it, which a device should not do, with the two sizes.
func (s Survey) Contents(file Inode) ([][]byte, error) {
	durable := make([]byte, s.d.base.Size(file))
	if err := s.d.base.ReadAt(file, durable, 0); err != nil {
		return nil, err
	}
	n := s.d.inodes[file]
	if n == nil {
		return [][]byte{durable}, nil
	}
	versions, dirty := s.d.chain(n)
	x := outcome{durable: durable, versions: versions}
	all := [][]byte{durable}
	add := func(c []byte) {
		if !slices.ContainsFunc(all, func(old []byte) bool { return bytes.Equal(old, c) }) {
			all = append(all, c)
		}
	}
	last := int(dirty) - 1
	add(x.content(func(int) int { return SectorSize }, false))
	for _, k := range []int{0, 1, last / 2, last - 1, last} {
		if k < 0 || k > last {
			continue
		}
		before := func(i int) int { return whole(i < k) }
		add(x.content(before, true))
		add(x.content(before, false))
		add(x.content(func(i int) int { return whole(i != k) }, false))
	}
	if last >= 0 {
		torn := func(i int) int {
			if i == last {
				return tear
			}
			return SectorSize
		}
		add(x.content(torn, true))
		add(x.content(torn, false))
	}
	return all, nil
}

// tear, for the bytes of a sector that survive: up to the middle of what is new.
const tear = -1

func whole(yes bool) int {
	if yes {
		return SectorSize
	}
	return 0
}

// outcome makes contents of one file.
type outcome struct {
	durable  []byte
	versions []flight
}

// content is what is left of the newest version if spared tells of every dirty sector
// how many of its bytes survive, in the order of versions and positions. short: the
// file ends with what survived.
func (x outcome) content(spared func(i int) int, short bool) []byte {
	b, size, i := slices.Clone(x.durable), int64(len(x.durable)), 0
	for _, v := range x.versions {
		size = v.size
		b = b[:min(int64(len(b)), v.cut)]
		for _, w := range v.writes {
			for k := range PageSize / SectorSize {
				if w.mask&(1<<k) == 0 {
					continue
				}
				off := w.index*PageSize + int64(k*SectorSize)
				b = overwrite(b, w.page.sectorOf(k)[:max(0, min(SectorSize, v.size-off))], off, spared(i))
				i++
			}
		}
	}
	if short {
		size = min(size, int64(len(b)))
	}
	b = b[:min(int64(len(b)), size)]
	return append(b, make([]byte, size-int64(len(b)))...)
}

// overwrite puts as many of the bytes of p over those of b at off.
func overwrite(b, p []byte, off int64, spared int) []byte {
	if spared == tear {
		first, last := 0, len(p)-1
		is := func(i int) bool { return off+int64(i) < int64(len(b)) && b[off+int64(i)] == p[i] }
		for first < last && is(first) {
			first++
		}
		for last > first && is(last) {
			last--
		}
		spared = (first + last + 1) / 2
	}
	p = p[:min(len(p), spared)]
	if len(p) == 0 {
		return b
	}
	if end := off + int64(len(p)); end > int64(len(b)) {
		b = append(b, make([]byte, end-int64(len(b)))...)
	}
	copy(b[off:], p)
	return b
}
