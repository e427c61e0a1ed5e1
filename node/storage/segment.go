package storage

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

// The files of a segment, named by its base offset.
const (
	logSuffix   = ".log"
	indexSuffix = ".index"
	timeSuffix  = ".timeindex"
)

// indexKinds are the suffixes of the indexes, in the order of segment.indexes.
var indexKinds = [...]string{indexSuffix, timeSuffix, txnSuffix}

// baseDigits is the length of a base offset in a file name.
const baseDigits = 20

// segment is a stretch of the log in a file of its own, with its indexes. The
// last segment of a log is the active one, to which it appends.
type segment struct {
	base kafka.Offset
	// suffix is that of the files while the segment is being swapped in.
	suffix string
	log    disk.File
	size   int64 // of the log file, bytes
	index  offsetIndex
	times  timeIndex
	txns   txnIndex

	sinceEntry int64           // bytes appended since the last index entry
	created    kafka.Timestamp // or opened, or emptied; ms
	jitter     int64           // ms by which it is rolled earlier
	first      kafka.Timestamp // max timestamp of the first batch; NoTimestamp if unknown
	largest    timePoint       // of all batches
	dirty      bool            // log file written since its last fsync was asked for
	unusable   bool            // found with an index that is missing or no index
	doubtful   bool            // found with an index that cannot be right

	fresh bool     // the index files are under .tmp, as a renewal is under way
	stale []string // suffixes of those that lie under their names meanwhile
}

// segmentPath is the path of a segment's file without its suffix.
func segmentPath(dir string, base kafka.Offset) string {
	digits := strconv.FormatInt(int64(base), 10)
	return dir + "/" + strings.Repeat("0", baseDigits-len(digits)) + digits
}

// parseBase reads a file name of a segment with the given suffix.
func parseBase(name, suffix string) (kafka.Offset, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok || len(digits) != baseDigits {
		return 0, false
	}
	base, err := strconv.ParseInt(digits, 10, 64)
	return kafka.Offset(base), err == nil && base >= 0
}

func newSegment(base kafka.Offset, now kafka.Timestamp) *segment {
	s := &segment{base: base, created: now, first: record.NoTimestamp, largest: timePoint{record.NoTimestamp, base}}
	s.index = offsetIndex{indexFile{entry: offsetEntrySize}, base}
	s.times = timeIndex{indexFile{entry: timeEntrySize}, base}
	s.txns = newTxnIndex()
	return s
}

// createSegment makes the files of a new, empty segment.
func createSegment(fs disk.FS, dir string, base kafka.Offset, now kafka.Timestamp) (*segment, error) {
	s := newSegment(base, now)
	path := segmentPath(dir, base)
	var errs [3]error
	s.log, errs[0] = fs.Create(path + logSuffix)
	s.index.file, errs[1] = fs.Create(path + indexSuffix)
	s.times.file, errs[2] = fs.Create(path + timeSuffix)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("create segment %s: %w", path, err)
	}
	return s, nil
}

// append writes batches, whose offsets are final, at the segment's end, and accounts
// for them.
func (s *segment) append(batches []byte, interval int32) error {
	if err := s.write(batches); err != nil {
		return err
	}
	for len(batches) > 0 {
		b, rest := nextOwn(batches)
		s.note(b, len(b), interval)
		batches = rest
	}
	return s.saveHeld()
}

// write writes batches at the segment's end; note must follow for each.
func (s *segment) write(batches []byte) error {
	if int64(len(batches)) > math.MaxInt32-s.size {
		panic("storage: segment of base offset " + strconv.FormatInt(int64(s.base), 10) + " grows beyond 2 GiB")
	}
	s.dirty = true
	_, err := s.log.WriteAt(batches, s.size)
	return err
}

// nextOwn cuts the first batch off bytes that are batches by all that was checked.
func nextOwn(batches []byte) (b record.Batch, rest []byte) {
	b, rest, err := record.Next(batches)
	if err != nil {
		panic("storage: append of bytes that are no batch: " + err.Error())
	}
	return b, rest
}

// saveHeld saves the indexes if entries have waited for long enough.
func (s *segment) saveHeld() error {
	if !s.index.due() {
		return nil
	}
	return s.saveIndexes()
}

// saveIndexes brings the index files up to date, that of times first: it must know
// the largest timestamp of all before the last entry of the other.
func (s *segment) saveIndexes() error {
	if err := s.times.save(); err != nil {
		return err
	}
	return s.index.save()
}

// note accounts for a batch of the given size at the segment's end, of which
// only the header is looked at. The index entry comes before the batch is
// counted, so the first batch of a segment never gets one.
func (s *segment) note(header record.Batch, size int, interval int32) {
	if s.size == 0 {
		s.first = header.MaxTimestamp()
	}
	if t := header.MaxTimestamp(); t > s.largest.timestamp {
		s.largest = timePoint{t, header.LastOffset()}
	}
	if s.sinceEntry > int64(interval) {
		s.index.add(header.LastOffset(), s.size)
		s.times.add(s.largest)
		s.sinceEntry = 0
	}
	s.size += int64(size)
	s.sinceEntry += int64(size)
}

// place is where the first batch that ends at or after some offset lies.
type place struct {
	pos  int64 // bytes
	size int   // bytes
	base kafka.Offset
}

// find looks for the first batch whose last offset is at or after o; false if
// the segment ends before.
func (s *segment) find(w *walker, o kafka.Offset) (p place, ok bool, err error) {
	pos, near := s.index.around(o, w.found)
	for w.seek(s.log, pos, s.size, near); ; w.skip(p.size) {
		header, size, err := w.head()
		if err == io.EOF {
			return place{pos: s.size}, false, nil
		}
		if err != nil {
			return place{}, false, fmt.Errorf("segment of base offset %d at position %d: %w", s.base, w.pos, err)
		}
		p = place{w.pos, size, header.BaseOffset()}
		if header.LastOffset() >= o {
			w.found = size

			return p, true, nil
		}
	}
}

// truncateTo drops every batch that ends at or after o and returns the first
// offset after those that stay.
func (s *segment) truncateTo(w *walker, o kafka.Offset, now kafka.Timestamp) (end kafka.Offset, err error) {
	p, found, err := s.find(w, o)
	if err != nil {
		return 0, err
	}
	if found {
		if err := errors.Join(s.index.truncateTo(o), s.times.truncateTo(o), s.txns.truncateTo(o), s.cutLog(p.pos)); err != nil {
			return 0, err
		}
		s.sinceEntry = 0
	}
	if s.size == 0 {
		s.created, s.first = now, record.NoTimestamp
	}
	if err := s.readFirst(w); err != nil {
		return 0, err
	}
	return s.readTail(w)
}

// cutLog ends the log file at size.
func (s *segment) cutLog(size int64) error {
	s.size, s.dirty = size, true
	return s.log.Truncate(size)
}

// readTail reads the batches from the last index entry on and returns the first
// offset after the segment. It also finds the largest timestamp: at the last
// index entry the time index knew the one of all before.
func (s *segment) readTail(w *walker) (end kafka.Offset, err error) {
	end, s.largest = s.base, s.times.last()
	for w.reset(s.log, s.index.tail(), s.size); ; {
		header, size, err := w.head()
		if err == io.EOF {
			return end, nil
		}
		if err != nil {
			return end, err
		}
		if t := header.MaxTimestamp(); t > s.largest.timestamp {
			s.largest = timePoint{t, header.LastOffset()}
		}
		end = header.NextOffset()
		w.skip(size)
	}
}

// readFirst finds the timestamp from which the age of a segment counts that was
// opened, or became the active one again.
func (s *segment) readFirst(w *walker) error {
	w.reset(s.log, 0, s.size)
	header, _, err := w.head()
	if err == io.EOF {
		return nil
	}
	if err == nil {
		s.first = header.MaxTimestamp()
	}
	return err
}

// seal adds the last entry to the time index, when the segment is rolled,
// recovered or closed, and writes what the index files have not.
func (s *segment) seal() error {
	s.times.add(s.largest)
	return s.saveIndexes()
}

// unsynced tells that a file was written since its last fsync was asked for.
func (s *segment) unsynced() bool {
	return s.dirty || s.index.dirty || s.times.dirty || s.txns.dirty
}

// close gives the handles up.
func (s *segment) close() error {
	return errors.Join(s.log.Close(), s.index.file.Close(), s.times.file.Close(), s.txns.close())
}
