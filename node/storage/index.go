package storage

import (
	"encoding/binary"

	"tidemark/disk"
	"tidemark/model/kafka"
)

// offsetEntrySize is the size in bytes of an entry of a .index file: relative
// offset int32, position int32.
const offsetEntrySize = 8

// indexFile is what both kinds of index share: fixed-size entries, held in
// memory and written through to the file. Kafka maps the file into memory,
// preallocated and trimmed when the segment ends; the bytes are the same.
type indexFile struct {
	file  disk.File
	entry int    // bytes
	data  []byte // all entries
	dirty bool   // written since the last fsync was asked for
	held  bool   // the file gets its entries later, all at once
}

func (x *indexFile) count() int { return len(x.data) / x.entry }

// load reads the entries from the file. False if the file's size is not that of
// whole entries.
func (x *indexFile) load() (whole bool, err error) {
	x.data, err = readAll(x.file)
	return err == nil && len(x.data)%x.entry == 0, err
}

// write adds to the file the entries that were appended to data from byte at.
func (x *indexFile) write(at int) error {
	x.dirty = true
	if x.held {
		return nil
	}
	_, err := x.file.WriteAt(x.data[at:], int64(at))
	return err
}

// unhold writes the entries that were held back: all of an index that was made anew.
func (x *indexFile) unhold() error {
	if x.held = false; len(x.data) == 0 {
		return nil
	}
	return x.write(0)
}

// cut keeps the first n entries.
func (x *indexFile) cut(n int) error {
	if n >= x.count() {
		return nil
	}
	x.data = x.data[:n*x.entry]
	x.dirty = true
	return x.file.Truncate(int64(len(x.data)))
}

// reset drops every entry, and what the file holds besides.
func (x *indexFile) reset() error {
	x.data = x.data[:0]
	x.dirty = true
	return x.file.Truncate(0)
}

// offsetIndex is the sparse map from offsets to positions of one segment.
type offsetIndex struct {
	indexFile
	base kafka.Offset
}

func (x *offsetIndex) at(i int) (last kafka.Offset, pos int64) {
	e := x.data[i*offsetEntrySize:]
	return x.base + kafka.Offset(binary.BigEndian.Uint32(e)), int64(binary.BigEndian.Uint32(e[4:]))
}

// after is the number of entries at or below o.
func (x *offsetIndex) after(o kafka.Offset) int {
	low, high := 0, x.count()
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
func (x *offsetIndex) add(last kafka.Offset, pos int64) error {
	at := len(x.data)
	x.data = binary.BigEndian.AppendUint32(x.data, uint32(last-x.base))
	x.data = binary.BigEndian.AppendUint32(x.data, uint32(pos))
	return x.write(at)
}

// truncateTo drops the entries for offset o and above.
func (x *offsetIndex) truncateTo(o kafka.Offset) error { return x.cut(x.after(o - 1)) }
