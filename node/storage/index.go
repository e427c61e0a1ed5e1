package storage

import (
	"encoding/binary"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

// offsetEntrySize is the size in bytes of an entry of a .index file: relative
// offset int32, position int32.
const offsetEntrySize = 8

// heldEntries is how many entries of an offset index wait in memory before they
// are written. Kafka maps its indexes into memory, so an entry costs it no system
// call; with one for each entry, an append of 1 KiB would take a tenth longer.
const heldEntries = 16

// indexFile is what the kinds of index share: fixed-size entries, all of them in
// memory, the last ones perhaps there alone. They reach the file before it is
// synced, and when the segment ends: no recovery point rises above an entry that
// the file has not. Kafka's file is mapped into memory, preallocated, and trimmed
// when the segment ends; the bytes are the same.
type indexFile struct {
	file  disk.File
	entry int    // bytes
	data  []byte // all entries
	saved int    // bytes of them that the file has
	dirty bool   // changed since the last fsync was asked for
}

func (x *indexFile) count() int { return len(x.data) / x.entry }

// load reads the entries from the file. False if the file's size is not that of
// whole entries.
func (x *indexFile) load() (whole bool, err error) {
	x.data, err = readAll(x.file)
	x.saved = len(x.data)
	return err == nil && len(x.data)%x.entry == 0, err
}

// save writes the entries that the file has not.
func (x *indexFile) save() error {
	if x.saved == len(x.data) {
		return nil
	}
	if _, err := x.file.WriteAt(x.data[x.saved:], int64(x.saved)); err != nil {
		return err
	}
	x.saved = len(x.data)
	return nil
}

// cut keeps the first n entries.
func (x *indexFile) cut(n int) error {
	if n >= x.count() {
		return nil
	}
	x.data = x.data[:n*x.entry]
	if len(x.data) >= x.saved {
		return nil
	}
	x.saved, x.dirty = len(x.data), true
	return x.file.Truncate(int64(x.saved))
}

// reset drops every entry, and what the file holds besides.
func (x *indexFile) reset() error {
	x.data = x.data[:0]
	x.saved, x.dirty = 0, true
	return x.file.Truncate(0)
}

// offsetIndex is the sparse map from offsets to positions of one segment.
type offsetIndex struct {
	indexFile
	base kafka.Offset
}

// count is that of indexFile, for each append: it divides by a constant.
func (x *offsetIndex) count() int { return len(x.data) / offsetEntrySize }

// due tells that entries have waited for long enough.
func (x *offsetIndex) due() bool { return len(x.data)-x.saved >= heldEntries*offsetEntrySize }

func (x *offsetIndex) at(i int) (last kafka.Offset, pos int64) {
	e := x.data[i*offsetEntrySize:]
	return x.base + kafka.Offset(binary.BigEndian.Uint32(e)), int64(binary.BigEndian.Uint32(e[4:]))
}

// after is the number of entries at or below o.
func (x *offsetIndex) after(o kafka.Offset) int {
	low, high := x.narrow(o)
	for low < high {
		mid := (low + high) / 2
		if last, _ := x.at(mid); last <= o {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// narrow bounds what after looks for. Offsets grow about evenly along a segment, so
// most often a few entries next to each other hold it, and a search over all of them
// would wait for memory at each step.
func (x *offsetIndex) narrow(o kafka.Offset) (low, high int) {
	const near = 16 // entries
	high = x.count()
	if high <= 4*near {
		return 0, high
	}
	last, _ := x.at(high - 1)
	if o < x.base || o >= last {
		return 0, high
	}
	guess := int(int64(o-x.base) * int64(high) / int64(last-x.base))
	if i := guess - near; i > 0 {
		if at, _ := x.at(i); at <= o {
			low = i
		}
	}
	if i := guess + near; i < high {
		if at, _ := x.at(i); at > o {
			high = i
		}
	}
	return low, high
}

// lookup is the position from which a scan for offset o starts: that of the
// greatest entry ≤ o, else 0.
func (x *offsetIndex) lookup(o kafka.Offset) int64 {
	n := x.after(o)
	if n == 0 {
		return 0
	}
	_, pos := x.at(n - 1)
	return pos
}

// around is lookup with the number of bytes from there in which the header of the
// batch that holds o should be, as batches between two entries are about equal: the
// page cache is read no farther than needed. The header may lie up to a
// batch, of about the given size, before or behind that. Where entries lie so
// far apart that batches must be large, that is the first header alone, and where o
// has an entry.
func (x *offsetIndex) around(o kafka.Offset, batch int) (pos int64, near int) {
	n := x.after(o)
	last := x.base - 1
	if n > 0 {
		last, pos = x.at(n - 1)
	}
	if n > 0 && last == o {
		return pos, record.Overhead
	}
	if n == x.count() {
		return pos, walkChunk
	}
	next, end := x.at(n)
	span := end - pos
	if span > 2*walkChunk {
		return pos, record.Overhead
	}
	reach := span*int64(o-last)/int64(next-last) + int64(batch) + span/32
	return pos, int(min(reach, span)) + record.Overhead
}

// offsetFrom is the offset of the first entry at position pos or behind it.
func (x *offsetIndex) offsetFrom(pos int64) (last kafka.Offset, ok bool) {
	low, high := 0, x.count()
	for low < high {
		mid := (low + high) / 2
		if _, at := x.at(mid); at < pos {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == x.count() {
		return 0, false
	}
	last, _ = x.at(low)
	return last, true
}

// tail is the position of the last entry.
func (x *offsetIndex) tail() int64 {
	if x.count() == 0 {
		return 0
	}
	_, pos := x.at(x.count() - 1)
	return pos
}

// add notes that the batch at pos ends with offset last.
func (x *offsetIndex) add(last kafka.Offset, pos int64) {
	x.dirty = true
	x.data = binary.BigEndian.AppendUint32(x.data, uint32(last-x.base))
	x.data = binary.BigEndian.AppendUint32(x.data, uint32(pos))
}

// truncateTo drops the entries for offset o and above.
func (x *offsetIndex) truncateTo(o kafka.Offset) error { return x.cut(x.after(o - 1)) }
