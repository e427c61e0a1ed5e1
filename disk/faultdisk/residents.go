package faultdisk

import "slices"

// residents is the page cache as a list of pages: which are in memory, which of
// them are dirty, in which order the clean ones were last used. The content is
// elsewhere (see the package comment); this list decides what a read costs.
//
//	newest ── clean ── clean ── … ── oldest     evicted from here
//	dirty, by file: first dirtied, …            written back from here
//
// Every step is O(1), and evicting takes as many as there are pages to evict.
type residents struct {
	limit int64 // pages; 0: everything stays, and nothing is noted here
	at    map[pageKey]int32
	nodes []resident // [0] joins the ends of the list of clean pages
	spare []int32    // nodes without a page

	clean, dirty int64    // pages
	waiting      []*inode // files with dirty pages, in the order in which they got the first
	evicted      []pageKey
}

type pageKey struct {
	file  *inode
	index int64
}

// resident is one page in memory. Clean pages are linked by use, all pages of a
// file by file; 0 ends a file's list.
type resident struct {
	key          pageKey
	newer, older int32
	prev, next   int32
	dirty        bool
}

func (r *residents) reset(limit int64) {
	*r = residents{limit: limit}
	if limit > 0 {
		r.at, r.nodes = map[pageKey]int32{}, make([]resident, 1)
	}
}

func (r *residents) has(f *inode, index int64) bool { return r.at[pageKey{f, index}] != 0 }

// use notes that a page is read: a clean one becomes the newest.
func (r *residents) use(f *inode, index int64) {
	i := r.enter(f, index)
	if !r.nodes[i].dirty {
		r.unlink(i)
		r.link(i)
	}
}

// soil notes that a page is dirty.
func (r *residents) soil(f *inode, index int64) {
	i := r.enter(f, index)
	if r.nodes[i].dirty {
		return
	}
	r.unlink(i)
	r.nodes[i].dirty = true
	r.clean--
	r.dirty++
	if f.dirty++; f.dirty == 1 {
		r.waiting = append(r.waiting, f)
	}
}

// wash notes that a page is clean; it was just used, for writing it back.
func (r *residents) wash(f *inode, index int64) {
	i := r.at[pageKey{f, index}]
	if i == 0 || !r.nodes[i].dirty {
		return
	}
	r.undirty(i)
	r.clean++
	r.link(i)
}

func (r *residents) undirty(i int32) {
	n := &r.nodes[i]
	n.dirty = false
	r.dirty--
	if n.key.file.dirty--; n.key.file.dirty == 0 {
		at := slices.Index(r.waiting, n.key.file)
		r.waiting = slices.Delete(r.waiting, at, at+1)
	}
}

// drop takes a page out of memory.
func (r *residents) drop(f *inode, index int64) {
	if i := r.at[pageKey{f, index}]; i != 0 {
		r.leave(i)
	}
}

// dropFrom takes the pages of a file from an index on out of memory.
func (r *residents) dropFrom(f *inode, index int64) {
	for i := f.pages; i != 0; {
		next := r.nodes[i].next
		if r.nodes[i].key.index >= index {
			r.leave(i)
		}
		i = next
	}
}

// evict takes the oldest clean pages out until the rest fits, or is dirty. The
// result is valid until the next call.
func (r *residents) evict() []pageKey {
	r.evicted = r.evicted[:0]
	for r.clean+r.dirty > r.limit && r.clean > 0 {
		i := r.nodes[0].newer
		r.evicted = append(r.evicted, r.nodes[i].key)
		r.leave(i)
	}
	return r.evicted
}

// enter returns the node of a page, a clean new one if it was not in memory.
func (r *residents) enter(f *inode, index int64) int32 {
	key := pageKey{f, index}
	if i := r.at[key]; i != 0 {
		return i
	}
	var i int32
	if n := len(r.spare); n > 0 {
		i, r.spare = r.spare[n-1], r.spare[:n-1]
	} else {
		i = int32(len(r.nodes))
		r.nodes = append(r.nodes, resident{})
	}
	r.nodes[i] = resident{key: key, next: f.pages}
	if f.pages != 0 {
		r.nodes[f.pages].prev = i
	}
	f.pages = i
	r.at[key] = i
	r.clean++
	r.link(i)
	return i
}

func (r *residents) leave(i int32) {
	n := &r.nodes[i]
	if n.dirty {
		r.undirty(i)
	} else {
		r.clean--
		r.unlink(i)
	}
	if n.prev != 0 {
		r.nodes[n.prev].next = n.next
	} else {
		n.key.file.pages = n.next
	}
	if n.next != 0 {
		r.nodes[n.next].prev = n.prev
	}
	delete(r.at, n.key)
	*n = resident{}
	r.spare = append(r.spare, i)
}

// link makes a node the newest clean page. Seen from node 0, older leads to the
// newest page and newer to the oldest: the list is a circle.
func (r *residents) link(i int32) {
	first := r.nodes[0].older
	r.nodes[i].newer, r.nodes[i].older = 0, first
	r.nodes[first].newer = i
	r.nodes[0].older = i
}

func (r *residents) unlink(i int32) {
	n := r.nodes[i]
	r.nodes[n.newer].older = n.older
	r.nodes[n.older].newer = n.newer
}
