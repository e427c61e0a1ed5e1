package inspect

import (
	"io"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// segment is one segment that is walked, with the cursors in its indexes.
type segment struct {
	*replica
	base    kafka.Offset
	limit   kafka.Offset // base of the next segment, above every offset of this one
	active  bool
	log     batches
	offsets *offsetIndex
	times   *timeIndex
	txns    txnIndex
	ahead   [record.Overhead]byte // header of the next batch
}

// segment checks the files of one segment.
func (r *replica) segment(names []string, base, limit kafka.Offset) error {
	s := &segment{replica: r, base: base, limit: limit, active: limit == noLimit}
	err := s.open(names)
	if err == nil {
		err = s.walkBatches()
	}
	s.close()
	return err
}

// open opens the log file and its indexes; only the transaction index may be
// missing.
func (s *segment) open(names []string) error {
	src, err := open(s.files, s.file(s.base, logSuffix))
	if err != nil {
		return err
	}
	s.log.source = src
	if s.base < s.chain.next {
		return src.fault(0, "the segment begins at offset %d, but the one before ends at %d", s.base, s.chain.next)
	}
	for _, suffix := range []string{indexSuffix, timeSuffix} {
		if s.index(names, suffix) == "" {
			missing := &source{path: s.file(s.base, suffix)}
			if err := s.mended(missing.fault(0, "the file is missing")); err != nil {
				return err
			}
		}
	}
	offsets, err := s.entries(names, indexSuffix, offsetEntrySize)
	if err != nil {
		return err
	}
	if offsets != nil {
		s.offsets = &offsetIndex{entries: offsets, base: s.base}
	}
	times, err := s.entries(names, timeSuffix, timeEntrySize)
	if err != nil {
		return err
	}
	if times != nil {
		s.times = &timeIndex{entries: times, base: s.base, last: record.NoTimestamp, largest: record.NoTimestamp}
	}
	s.txns.path = s.file(s.base, txnSuffix)
	s.txns.entries, err = s.entries(names, txnSuffix, txnEntrySize)
	return err
}

// index is the name of one of the segment's indexes, "" if there is none. The cleaner
// puts a log in place before its indexes, which have a name of their own until then. While
// the new log still waits for its place, its indexes say nothing of the old one.
func (s *segment) index(names []string, suffix string) string {
	name := segmentName(s.base, suffix)
	switch {
	case has(names, name):
		return name
	case has(names, name+swapSuffix) && !has(names, segmentName(s.base, logSuffix)+swapSuffix):
		return name + swapSuffix
	}
	return ""
}

// entries opens one of the segment's indexes; nil if there is none.
func (s *segment) entries(names []string, suffix string, size int64) (*entries, error) {
	name := s.index(names, suffix)
	if name == "" {
		return nil, nil
	}
	return openEntries(s.files, join(s.path, name), size)
}

func (s *segment) close() {
	s.log.close()
	if s.offsets != nil {
		s.offsets.source.close()
	}
	if s.times != nil {
		s.times.source.close()
	}
	if s.txns.entries != nil {
		s.txns.source.close()
	}
}

// walkBatches goes over the batches once.
func (s *segment) walkBatches() error {
	s.sum.Segments++
	for {
		b, pos, err := s.log.next()
		if err == io.EOF || s.unfinished(err) {
			return s.end(err)
		}
		if err != nil {
			return err
		}
		if err := s.batch(b, pos); err != nil {
			return err
		}
	}
}

// unfinished tells whether the log ends inside a batch that is being written, or was
// when the process was killed. The next start cuts it off.
func (s *segment) unfinished(err error) bool {
	return isTorn(err) && s.active && !s.clean && s.chain.next >= s.recovery
}

// batch checks one batch against everything that tells of it.
func (s *segment) batch(b record.Batch, pos int64) error {
	before := s.chain.next
	if err := s.chain.check(s.log.source, b, pos, s.base); err != nil {
		return err
	}
	b, err := s.agrees(b, pos)
	if err != nil {
		return err
	}
	s.chain.add(b)
	if b.BaseOffset() > before || int64(b.Count()) <= int64(b.LastOffsetDelta()) {
		s.producers.partial = true // compaction took what was between, or in it
	}
	s.sum.Batches++
	if err := s.snapshotsBelow(b.NextOffset()); err != nil {
		return err
	}
	if s.offsets != nil {
		if err := s.offsets.see(s.replica.walk, b, pos); err != nil {
			return err
		}
	}
	if s.times != nil {
		if err := s.times.see(s.replica.walk, b, pos); err != nil {
			return err
		}
	}
	if err := s.epochs.see(s.replica.walk, b, pos, s.recovery); err != nil {
		return err
	}
	return s.content(b, pos)
}

// content checks the records, and takes the batch into account for its producer.
func (s *segment) content(b record.Batch, pos int64) error {
	if err := s.producers.settle(b); err != nil {
		return err
	}
	switch {
	case b.IsControl():
		return s.control(b, pos)
	case s.metadata:
		return s.walkRecords(s.log.source, b, pos, decodable)
	}
	s.producers.data(b)
	return s.walkRecords(s.log.source, b, pos, nil)
}

// control checks a control batch; that of an abort has an entry in the transaction
// index.
func (s *segment) control(b record.Batch, pos int64) error {
	kind, coordinatorEpoch, err := s.marker(s.log.source, b, pos)
	if err != nil || kind < record.Abort || kind > record.Commit {
		return err
	}
	first := s.producers.marker(b, coordinatorEpoch)
	if kind != record.Abort {
		return nil
	}
	if s.txns.behind {
		return nil
	}
	err = s.txns.abort(s.replica.walk, s.producers, b.ProducerID(), first, b.LastOffset(), s.start)
	if isTorn(err) && s.walked() {
		s.txns.behind = true // a kill came between the marker and its entry, or in a truncation
		return s.mended(err)
	}
	return err
}

// walked tells whether a start that is not clean walks the segment and makes its indexes
// anew.
func (s *segment) walked() bool { return s.base >= s.walks }

// end is behind the last batch; tail is io.EOF, or tells of a half one.
func (s *segment) end(tail error) error {
	s.sum.Bytes += s.log.pos
	if _, growing := s.log.grown(); tail != io.EOF && !growing {
		if err := s.mended(tail); err != nil {
			return err
		}
	}
	if s.log.zeros > 0 {
		if err := s.mended(s.log.fault(s.log.pos, "%d zeros behind the last batch: the file is preallocated", s.log.zeros)); err != nil {
			return err
		}
	}
	if s.offsets != nil {
		if err := s.offsets.end(s); err != nil {
			return err
		}
	}
	if s.times != nil {
		if err := s.times.end(s); err != nil {
			return err
		}
	}
	if err := s.txns.end(s); err != nil {
		return err
	}
	_, growing := s.log.grown()
	s.growing = s.active && growing
	return nil
}

// later tells whether what an index says of the bytes at pos, or of the offset o if
// pos is -1, is of a batch that was appended since the log was opened.
func (s *segment) later(pos int64, o kafka.Offset) bool {
	size, growing := s.log.grown()
	return s.active && growing && (pos == -1 && o >= s.chain.next || pos >= s.log.pos && pos < size)
}
