package faultdisk_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tidemark/disk/faultdisk"
)

const (
	page  = faultdisk.PageSize
	bound = 16 * page // the smallest page cache
)

// nPage is a page of the naive page cache.
type nPage struct{ file, index int }

// naiveCache is a page cache as two lists, searched from end to end.
type naiveCache struct {
	d       *faultdisk.Disk
	files   []*faultdisk.File
	content [][]byte
	clean   []nPage // the newest last
	dirty   []nPage // the first dirtied first
	waiting []int   // files, the first dirtied first
	syncs   []cacheSync
}

// cacheSync is a sync on its way: what it cleans, unless written again.
type cacheSync struct {
	s     faultdisk.Sync
	file  int
	pages []nPage
	over  bool
}

func (c *naiveCache) use(p nPage) {
	if slices.Contains(c.dirty, p) {
		return
	}
	c.clean = append(slices.DeleteFunc(c.clean, func(q nPage) bool { return p == q }), p)
}

func (c *naiveCache) soil(p nPage) {
	c.clean = slices.DeleteFunc(c.clean, func(q nPage) bool { return p == q })
	if !slices.Contains(c.dirty, p) {
		c.dirty = append(c.dirty, p)
	}
	if !slices.Contains(c.waiting, p.file) {
		c.waiting = append(c.waiting, p.file)
	}
	// It has to be written again, whatever is on its way.
	for i := range c.syncs {
		c.syncs[i].pages = slices.DeleteFunc(c.syncs[i].pages, func(q nPage) bool { return p == q })
	}
}

func (c *naiveCache) drop(gone func(nPage) bool) {
	c.clean = slices.DeleteFunc(c.clean, gone)
	c.dirty = slices.DeleteFunc(c.dirty, gone)
	for i := range c.syncs {
		c.syncs[i].pages = slices.DeleteFunc(c.syncs[i].pages, gone)
	}
	c.rest()
}

// rest keeps those files waiting that have dirty pages.
func (c *naiveCache) rest() {
	c.waiting = slices.DeleteFunc(c.waiting, func(f int) bool {
		return !slices.ContainsFunc(c.dirty, func(p nPage) bool { return p.file == f })
	})
}

// wash cleans pages in order of their index.
func (c *naiveCache) wash(pages []nPage) {
	slices.SortFunc(pages, func(a, b nPage) int { return a.index - b.index })
	for _, p := range pages {
		c.dirty = slices.DeleteFunc(c.dirty, func(q nPage) bool { return p == q })
		c.clean = append(c.clean, p)
	}
	c.rest()
}

// settle finishes the syncs of a file up to one, in order.
func (c *naiveCache) settle(file int, upTo faultdisk.Sync) {
	for i := range c.syncs {
		if s := &c.syncs[i]; s.file == file && s.s <= upTo && !s.over {
			s.over = true
			c.wash(s.pages)
			s.pages = nil
		}
	}
}

func (c *naiveCache) balance() {
	limit := bound / page
	if len(c.dirty)*100 > limit*20 {
		for len(c.dirty)*100 > limit*10 {
			f := c.waiting[0]
			c.settle(f, 1<<62)
			var rest []nPage
			for _, p := range c.dirty {
				if p.file == f {
					rest = append(rest, p)
				}
			}
			c.wash(rest)
		}
	}
	c.evict()
}

func (c *naiveCache) evict() {
	for len(c.clean)+len(c.dirty) > bound/page && len(c.clean) > 0 {
		c.clean = c.clean[1:]
	}
}

func (c *naiveCache) missing(file, from, to int) (n int64) {
	for i := from / page; i*page < to; i++ {
		if p := (nPage{file, i}); !slices.Contains(c.clean, p) && !slices.Contains(c.dirty, p) {
			n += page
		}
	}
	return n
}

func (c *naiveCache) file(t *rapid.T) int { return rapid.IntRange(0, len(c.files)-1).Draw(t, "file") }

func (c *naiveCache) Write(t *rapid.T) {
	f := c.file(t)
	off := rapid.IntRange(0, 12*page).Draw(t, "off")
	if rapid.Bool().Draw(t, "append") {
		off = len(c.content[f])
	}
	p := bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, rapid.IntRange(1, 2*page).Draw(t, "n"))
	if _, err := c.files[f].WriteAt(p, int64(off)); err != nil {
		t.Fatal(err)
	}
	c.content[f] = resized(c.content[f], max(len(c.content[f]), off+len(p)))
	copy(c.content[f][off:], p)
	for i := off / page; i*page < off+len(p); i++ {
		c.soil(nPage{f, i})
	}
	c.balance()
}

func (c *naiveCache) Read(t *rapid.T) {
	f := c.file(t)
	if len(c.content[f]) == 0 {
		t.Skip("empty")
	}
	off := rapid.IntRange(0, len(c.content[f])-1).Draw(t, "off")
	p := make([]byte, rapid.IntRange(1, 6*page).Draw(t, "n"))
	end := min(off+len(p), len(c.content[f]))
	if got, want := c.files[f].Missed(int64(off), len(p)), c.missing(f, off, end); got != want {
		t.Fatalf("a read of %d to %d misses %d bytes, want %d", off, end, got, want)
	}
	n, err := c.files[f].ReadAt(p, int64(off))
	if err != nil && err != io.EOF || !bytes.Equal(p[:n], c.content[f][off:end]) {
		t.Fatalf("read %d bytes at %d of file %d: %v", n, off, f, err)
	}
	for i := off / page; i*page < end; i++ {
		c.use(nPage{f, i})
	}
	c.evict()
}

func (c *naiveCache) Truncate(t *rapid.T) {
	f := c.file(t)
	size := rapid.IntRange(0, 12*page).Draw(t, "size")
	if err := c.files[f].Truncate(int64(size)); err != nil {
		t.Fatal(err)
	}
	if size < len(c.content[f]) {
		c.drop(func(p nPage) bool { return p.file == f && p.index*page >= size })
	}
	c.content[f] = resized(c.content[f], size)
}

func (c *naiveCache) Sync(t *rapid.T) {
	f := c.file(t)
	s, _ := c.files[f].Sync()
	on := cacheSync{s: s, file: f}
	for _, p := range c.dirty {
		taken := slices.ContainsFunc(c.syncs, func(e cacheSync) bool { return slices.Contains(e.pages, p) })
		if p.file == f && !taken {
			on.pages = append(on.pages, p)
		}
	}
	c.syncs = append(c.syncs, on)
}

func (c *naiveCache) Finish(t *rapid.T) {
	if len(c.syncs) == 0 {
		t.Skip("nothing in flight")
	}
	i := rapid.IntRange(0, len(c.syncs)-1).Draw(t, "sync")
	s := c.syncs[i]
	if known, err := c.d.Finish(s.s); !known || err != nil {
		t.Fatal(known, err)
	}
	c.settle(s.file, s.s)
	c.syncs = slices.Delete(c.syncs, i, i+1)
	c.evict()
}

func (c *naiveCache) PowerLoss(t *rapid.T) {
	if err := c.d.PowerLoss(faultdisk.LoseNone, nil); err != nil {
		t.Fatal(err)
	}
	c.clean, c.dirty, c.waiting, c.syncs = nil, nil, nil, nil
	for f := range c.files {
		c.files[f], _ = c.d.Open(fmt.Sprint(f))
	}
}

// Check compares what is in memory, page by page.
func (c *naiveCache) Check(t *rapid.T) {
	for f, content := range c.content {
		for i := 0; i*page < len(content); i++ {
			if got, want := c.files[f].Missed(int64(i*page), 1), c.missing(f, i*page, i*page+1); got != want {
				t.Fatalf("page %d of file %d: %d bytes are not in memory, want %d", i, f, got, want)
			}
		}
	}
}

func TestBoundedPageCacheHoldsWhatANaiveOneHoldsAndChangesNoByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &naiveCache{d: newDisk(t)}
		c.d.SetPageCache(bound)
		for f := range 3 {
			h, err := c.d.Create(fmt.Sprint(f))
			if err != nil {
				t.Fatal(err)
			}
			c.files, c.content = append(c.files, h), append(c.content, nil)
		}
		t.Repeat(map[string]func(*rapid.T){
			"": c.Check, "write": c.Write, "write more": c.Write, "read": c.Read, "read more": c.Read, "truncate": c.Truncate,
			"sync": c.Sync, "finish": c.Finish, "power loss": c.PowerLoss,
		})
	})
}
