package simdisk

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"tidemark/disk/faultdisk"
)

const pageSize = faultdisk.PageSize

// memory is a faultdisk.Base: sparse pages and names. A page that was never
// written is a hole.
type memory struct {
	objects map[faultdisk.Inode]*object
	free    []*[pageSize]byte
	fresh   [][pageSize]byte // zeros that nobody used yet
	made    int              // pages so far
}

// object is the durable state of one inode, file or directory.
type object struct {
	size  int64 // bytes
	pages []block
	names []faultdisk.Entry // sorted by name
}

// block is one page of an object.
type block struct {
	index int64
	data  *[pageSize]byte
}

func newMemory() *memory {
	return &memory{objects: map[faultdisk.Inode]*object{faultdisk.Root: {}}}
}

// at returns the object of an inode and makes it on first use.
func (m *memory) at(i faultdisk.Inode) *object {
	o := m.objects[i]
	if o == nil {
		o = &object{}
		m.objects[i] = o
	}
	return o
}

// find gives the position of a page, or where it would be.
func (o *object) find(index int64) (int, bool) {
	if n := len(o.pages); n == 0 || o.pages[n-1].index < index {
		return n, false
	}
	return slices.BinarySearchFunc(o.pages, index, func(b block, i int64) int {
		switch {
		case b.index < i:
			return -1
		case b.index > i:
			return 1
		}
		return 0
	})
}

// ReadAt implements faultdisk.Base.
func (m *memory) ReadAt(i faultdisk.Inode, p []byte, off int64) error {
	o := m.objects[i]
	if o == nil {
		clear(p)
		return nil
	}
	for len(p) > 0 {
		in := off % pageSize
		n := min(int64(len(p)), pageSize-in)
		if k, ok := o.find(off / pageSize); ok {
			copy(p[:n], o.pages[k].data[in:])
		} else {
			clear(p[:n])
		}
		p, off = p[n:], off+n
	}
	return nil
}

// WriteAt implements faultdisk.Base.
func (m *memory) WriteAt(i faultdisk.Inode, p []byte, off int64) error {
	o := m.at(i)
	for len(p) > 0 {
		in := off % pageSize
		n := copy(m.page(o, off/pageSize)[in:], p)
		p, off = p[n:], off+int64(n)
	}
	o.size = max(o.size, off)
	return nil
}

// page returns a page of an object for writing.
func (m *memory) page(o *object, index int64) *[pageSize]byte {
	k, ok := o.find(index)
	if !ok {
		o.pages = slices.Insert(o.pages, k, block{index, m.zeros()})
	}
	return o.pages[k].data
}

// slabPages is how many pages are made at once at most, as in faultdisk.
const slabPages = 64

// zeros returns an empty page.
func (m *memory) zeros() *[pageSize]byte {
	if n := len(m.free); n > 0 {
		data := m.free[n-1]
		m.free = m.free[:n-1]
		clear(data[:])
		return data
	}
	if len(m.fresh) == 0 {
		m.fresh = make([][pageSize]byte, min(max(m.made, 1), slabPages))
		m.made += len(m.fresh)
	}
	data := &m.fresh[0]
	m.fresh = m.fresh[1:]
	return data
}

// Truncate implements faultdisk.Base.
func (m *memory) Truncate(i faultdisk.Inode, size int64) error {
	o := m.at(i)
	if size < o.size {
		m.cut(o, size)
	}
	o.size = size
	return nil
}

// cut drops the bytes from size on.
func (m *memory) cut(o *object, size int64) {
	k, _ := o.find((size + pageSize - 1) / pageSize)
	for _, b := range o.pages[k:] {
		m.free = append(m.free, b.data)
	}
	o.pages = slices.Delete(o.pages, k, len(o.pages))
	if k, ok := o.find(size / pageSize); ok {
		clear(o.pages[k].data[size%pageSize:])
	}
}

// Size implements faultdisk.Base.
func (m *memory) Size(i faultdisk.Inode) int64 {
	if o := m.objects[i]; o != nil {
		return o.size
	}
	return 0
}

func byName(e faultdisk.Entry, name string) int { return strings.Compare(e.Name, name) }

// Link implements faultdisk.Base.
func (m *memory) Link(dir faultdisk.Inode, e faultdisk.Entry) error {
	o := m.at(dir)
	k, ok := slices.BinarySearchFunc(o.names, e.Name, byName)
	if ok {
		o.names[k] = e
		return nil
	}
	o.names = slices.Insert(o.names, k, e)
	return nil
}

// Unlink implements faultdisk.Base.
func (m *memory) Unlink(dir faultdisk.Inode, name string) error {
	o := m.at(dir)
	if k, ok := slices.BinarySearchFunc(o.names, name, byName); ok {
		o.names = slices.Delete(o.names, k, k+1)
	}
	return nil
}

// List implements faultdisk.Base. The slice is the object's own.
func (m *memory) List(dir faultdisk.Inode) []faultdisk.Entry {
	if o := m.objects[dir]; o != nil {
		return o.names
	}
	return nil
}

// Forget implements faultdisk.Base.
func (m *memory) Forget(i faultdisk.Inode) error {
	if o := m.objects[i]; o != nil {
		m.cut(o, 0)
		delete(m.objects, i)
	}
	return nil
}

// digest writes everything that is durable.
func (m *memory) digest(write func([]byte)) {
	var buf []byte
	for _, i := range slices.Sorted(maps.Keys(m.objects)) {
		o := m.objects[i]
		buf = binary.LittleEndian.AppendUint64(buf[:0], uint64(i))
		buf = binary.LittleEndian.AppendUint64(buf, uint64(o.size))
		for _, e := range o.names {
			buf = binary.LittleEndian.AppendUint32(buf, uint32(len(e.Name)))
			buf = append(buf, e.Name...)
			buf = binary.LittleEndian.AppendUint64(buf, uint64(e.Inode))
		}
		write(buf)
		for _, b := range o.pages {
			buf = binary.LittleEndian.AppendUint64(buf[:0], uint64(b.index))
			write(buf)
			write(b.data[:])
		}
	}
}
