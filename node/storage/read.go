package storage

import (
	"errors"
	"fmt"
	"io"

	"tidemark/disk"
	"tidemark/model/kafka"
	"tidemark/model/record"
)

// Slice is a stretch of one segment that a fetch answers with. Its bytes begin
// with a batch and may end inside one, as Kafka's do.
type Slice struct {
	// Region stands for the bytes; whoever has the slice releases it once.
	Region disk.Region
	// First is the base offset of the first batch; the offset asked for if the
	// slice is empty.
	First kafka.Offset
	Bytes int
	// FirstBatchOversize tells that maxBytes cuts the first batch: Kafka then
	// answers without records.
	FirstBatchOversize bool
}

// Read returns the bytes from the batch that holds offset from on, of that
// segment alone, up to the batch that holds upTo, at most maxBytes; with
// minOneBatch the whole first batch at least. from = LogEnd or from ≥ upTo gives
// an empty slice. ErrOffsetOutOfRange if from is not in [LogStart, LogEnd];
// record.ErrCorrupt if no batch lies where one should; else an error of the disk,
// and the log has failed.
func (l *Log) Read(from, upTo kafka.Offset, maxBytes int, minOneBatch bool) (Slice, error) {
	empty := Slice{First: from}
	if from < l.start || from > l.end {
		return empty, fmt.Errorf("%w: %d is not in %d to %d of %s", ErrOffsetOutOfRange, from, l.start, l.end, l.dir)
	}
	if from >= min(upTo, l.end) {
		return empty, nil
	}
	s, p, err := l.locate(from)
	if err != nil {
		return empty, l.unreadable("read", err)
	}
	limit, err := l.limit(s, upTo)
	if err != nil {
		return empty, l.unreadable("read", err)
	}
	n := maxBytes
	if minOneBatch {
		n = max(n, p.size)
	}
	oversize := n < p.size
	n = int(min(int64(n), limit-p.pos))
	if n <= 0 {
		return empty, nil
	}
	return Slice{Region: s.log.Region(p.pos, n), First: p.base, Bytes: n, FirstBatchOversize: oversize}, nil
}

// unreadable is failing for a read: bytes that are no batch say nothing of the
// disk's health, and the log goes on with what it has.
func (l *Log) unreadable(what string, err error) error {
	switch {
	case errors.Is(err, record.ErrCorrupt):
		return fmt.Errorf("%s %s: %w", what, l.dir, err)
	case errors.Is(err, record.ErrTruncated), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s %s: %w: %w", what, l.dir, record.ErrCorrupt, err)
	}
	return l.failing(what, err)
}

// locate finds the first batch that ends at or after o; at the log's end it is
// an empty place.
func (l *Log) locate(o kafka.Offset) (*segment, place, error) {
	if s, p, ok := l.recent.get(o); ok {
		return s, p, nil
	}
	for i := l.floor(o); ; i++ {
		s := l.segments[i]
		p, ok, err := s.find(&l.walk, o)
		if ok {
			l.recent.add(o, s, p)
		}
		if ok || err != nil || i == len(l.segments)-1 {
			return s, p, err
		}
	}
}

// limit is the position in segment s up to which a read that is bounded by
// offset upTo may go.
func (l *Log) limit(s *segment, upTo kafka.Offset) (int64, error) {
	if upTo >= l.end {
		return s.size, nil
	}
	bound, p, err := l.locate(upTo)
	switch {
	case err != nil || bound.base < s.base:
		return 0, err
	case bound.base > s.base:
		return s.size, nil
	}
	return p.pos, nil
}

// ReadBatches returns a copy of the whole batches from the one that holds offset
// from on, at least one, then as many as fit into maxBytes. Empty at the log
// end; errors as Read.
func (l *Log) ReadBatches(from kafka.Offset, maxBytes int) ([]byte, error) {
	slice, err := l.Read(from, l.end, maxBytes, true)
	if err != nil || slice.Bytes == 0 {
		return nil, err
	}
	buf := make([]byte, slice.Bytes)
	err = slice.Region.Read(buf)
	slice.Region.Release()
	if err != nil {
		return nil, l.unreadable("read", err)
	}
	whole := 0
	for whole < len(buf) {
		b, _, err := record.Next(buf[whole:])
		if err != nil {
			break
		}
		whole += len(b)
	}
	if whole == 0 {
		return nil, l.unreadable("read", io.ErrUnexpectedEOF)
	}
	return buf[:whole], nil
}

// recentPlaces remembers where the batches lie that were appended or looked up
// last. Followers read at the log end and consumers up to the high watermark, so
// most look-ups end here: it is what Kafka's LogOffsetMetadata is for.
type recentPlaces struct {
	entries [8]recentPlace
	next    uint
}

type recentPlace struct {
	offset  kafka.Offset
	segment *segment // nil: unused
	place   place
}

func (r *recentPlaces) add(o kafka.Offset, s *segment, p place) {
	e := &r.entries[r.next%uint(len(r.entries))]
	e.offset, e.segment, e.place = o, s, p
	r.next++
}

func (r *recentPlaces) get(o kafka.Offset) (*segment, place, bool) {
	for i := range r.entries {
		if e := &r.entries[i]; e.offset == o && e.segment != nil {
			return e.segment, e.place, true
		}
	}
	return nil, place{}, false
}
