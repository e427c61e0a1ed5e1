package inspect

import (
	"encoding/binary"
	"errors"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

// Sizes in bytes of the entries of index files.
const (
	offsetEntrySize = 8
	timeEntrySize   = 12
)

// entries reads a file of fixed-size entries, one after the other.
type entries struct {
	*source
	entry int64 // bytes
	pos   int64 // of the current entry
	tail  bool  // only zeros are left: the file is preallocated
}

// openEntries opens a file of entries; nil if there is none. Its size must be
// that of whole entries.
func openEntries(files Files, path string, entry int64) (*entries, error) {
	s, err := open(files, path)
	if errors.Is(err, disk.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if odd := s.size % entry; odd != 0 {
		s.close()
		return nil, s.fault(s.size-odd, "the file ends %d bytes into an entry of %d bytes", odd, entry)
	}
	return &entries{source: s, entry: entry}, nil
}

// current returns the current entry, nil at the end.
func (e *entries) current() ([]byte, error) {
	if e.tail || e.pos >= e.size {
		return nil, nil
	}
	return e.bytes(e.pos, int(e.entry))
}

// zero tells whether the current entry begins the zeros at the end of a
// preallocated file, which end the walk.
func (e *entries) zero(b []byte) (bool, error) {
	for _, c := range b {
		if c != 0 {
			return false, nil
		}
	}
	end, err := e.firstNonZero(e.pos)
	if err != nil || end < e.size {
		return false, err
	}
	e.tail = true
	return true, nil
}

// settled returns the current entry, nil at the end and where only zeros are left.
func (e *entries) settled() ([]byte, error) {
	b, err := e.current()
	if b == nil || err != nil {
		return nil, err
	}
	if zero, err := e.zero(b); zero || err != nil {
		return nil, err
	}
	return e.current() // looking for zeros may have moved the window
}

// next moves to the next entry and counts it.
func (e *entries) next(w *walk) {
	e.pos += e.entry
	w.sum.IndexEntries++
}

// trimmed tells whether the file must end where its entries do: it was closed.
// Kafka preallocates indexes, and trims them when a segment is rolled or closed.
func (e *entries) trimmed(w *walk, active bool) error {
	if !e.tail || active && !w.clean {
		return nil
	}
	return w.mended(e.fault(e.pos, "%d zeros behind the entries of a segment that was closed", e.size-e.pos))
}

// offsetIndex is the cursor in a .index file: each entry must hold where a batch
// begins and that batch's last offset. Releases before 4.1 wrote one entry for an
// append of several batches, with the last offset of the last of them.
type offsetIndex struct {
	*entries
	base  kafka.Offset
	found bool // the batch that the current entry points to was passed
}

func parseOffsetEntry(b []byte, base kafka.Offset) (last kafka.Offset, pos int64) {
	return base + kafka.Offset(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint32(b[4:]))
}

// see compares the batch at pos with the current entry.
func (x *offsetIndex) see(w *walk, b record.Batch, pos int64) error {
	e, err := x.current()
	if e == nil || err != nil {
		return err
	}
	last, at := parseOffsetEntry(e, x.base)
	switch {
	case !x.found && at > pos:
		return nil
	case !x.found && at == pos && last == b.LastOffset():
		x.next(w)
		return nil
	}
	if zero, err := x.zero(e); zero || err != nil {
		return err
	}
	switch {
	case !x.found && at < pos:
		return x.fault(x.pos, "the entry for offset %d points to byte %d, where no batch begins (the next one does at %d)", last, at, pos)
	case last < b.LastOffset():
		return x.fault(x.pos, "the entry for byte %d holds offset %d, but no batch there ends with it (the next one ends with %d)%s", at, last, b.LastOffset(), orBase(at))
	}
	x.found = last > b.LastOffset()
	if !x.found {
		x.next(w)
	}
	return nil
}

// end is asked behind the last batch.
func (x *offsetIndex) end(s *segment) error {
	e, err := x.settled()
	if err != nil {
		return err
	}
	if e != nil {
		last, at := parseOffsetEntry(e, x.base)
		if s.later(at, last) {
			return nil
		}
		return x.fault(x.pos, "the entry points to offset %d at byte %d, behind the end of the segment", last, at)
	}
	return x.trimmed(s.replica.walk, s.active)
}

// timeIndex is the cursor in a .timeindex file: each entry must hold the largest
// timestamp up to some batch, and the last offset of the batch that has it.
// Releases before 3.7 could write the offset of its first record with it.
type timeIndex struct {
	*entries
	base    kafka.Offset
	last    kafka.Timestamp // of the last entry
	largest kafka.Timestamp // of the batches so far
}

func parseTimeEntry(b []byte, base kafka.Offset) (t kafka.Timestamp, o kafka.Offset) {
	return kafka.Timestamp(binary.BigEndian.Uint64(b)), base + kafka.Offset(binary.BigEndian.Uint32(b[8:]))
}

// see compares a batch with the current entry.
func (x *timeIndex) see(w *walk, b record.Batch, pos int64) error {
	before := x.largest
	x.largest = max(x.largest, b.MaxTimestamp())
	e, err := x.current()
	if e == nil || err != nil {
		return err
	}
	t, o := parseTimeEntry(e, x.base)
	if o > b.LastOffset() {
		return nil
	}
	if (o == b.LastOffset() || o >= b.BaseOffset() && w.firstWith(b, o, t)) && t == b.MaxTimestamp() && t >= before && t > x.last {
		x.last = t
		x.next(w)
		return nil
	}
	if zero, err := x.zero(e); zero || err != nil {
		return err
	}
	switch {
	case t <= x.last:
		return x.fault(x.pos, "timestamp %d does not follow %d", t, x.last)
	case o < b.BaseOffset():
		return x.fault(x.pos, "the entry for timestamp %d holds offset %d, which is in no batch%s", t, o, orBase(pos))
	case t != b.MaxTimestamp():
		return x.fault(x.pos, "the entry holds timestamp %d for offset %d, whose batch has %d%s", t, o, b.MaxTimestamp(), orBase(pos))
	}
	if t < before {
		return x.fault(x.pos, "the entry holds timestamp %d for offset %d, but a batch before it has %d", t, o, before)
	}
	return x.fault(x.pos+8, "the entry holds offset %d for timestamp %d, whose batch ends at offset %d%s", o, t, b.LastOffset(), orBase(pos))
}

// firstWith tells whether the record at offset o of a batch is its first with timestamp t.
func (w *walk) firstWith(b record.Batch, o kafka.Offset, t kafka.Timestamp) bool {
	for w.iterator.ResetWith(&w.inflater, b); w.iterator.Next(); {
		if r := w.iterator.Record(); r.Timestamp == t {
			return r.Offset == o
		}
	}
	return false
}

// end is asked behind the last batch. A segment that was rolled or closed has an
// entry for its largest timestamp.
func (x *timeIndex) end(s *segment) error {
	e, err := x.settled()
	if err != nil {
		return err
	}
	if e != nil {
		t, o := parseTimeEntry(e, x.base)
		if s.later(-1, o) {
			return nil
		}
		return x.fault(x.pos, "the entry for timestamp %d points to offset %d, behind the end of the segment", t, o)
	}
	if x.last < x.largest && !(s.active && !s.clean) {
		if err := s.mended(x.fault(x.pos, "the last entry has timestamp %d, but the segment was closed with %d", x.last, x.largest)); err != nil {
			return err
		}
	}
	return x.trimmed(s.replica.walk, s.active)
}
