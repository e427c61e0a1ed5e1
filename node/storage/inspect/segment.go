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
	active  bool
	log     batches
	offsets *offsetIndex
	times   *timeIndex
	txns    txnIndex
}

// segment checks the files of one segment.
func (r *replica) segment(names []string, base kafka.Offset, active bool) error {
	s := &segment{replica: r, base: base, active: active}
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
		if !has(names, segmentName(s.base, suffix)) {
			missing := &source{path: s.file(s.base, suffix)}
			if err := s.mended(missing.fault(0, "the file is missing")); err != nil {
				return err
			}
		}
	}
	offsets, err := openEntries(s.files, s.file(s.base, indexSuffix), offsetEntrySize)
	if err != nil {
		return err
	}
	if offsets != nil {
		s.offsets = &offsetIndex{entries: offsets, base: s.base}
	}
	times, err := openEntries(s.files, s.file(s.base, timeSuffix), timeEntrySize)
	if err != nil {
		return err
	}
	if times != nil {
		s.times = &timeIndex{entries: times, base: s.base, last: record.NoTimestamp, largest: record.NoTimestamp}
	}
	s.txns.path = s.file(s.base, txnSuffix)
	s.txns.entries, err = openEntries(s.files, s.txns.path, txnEntrySize)
	return err
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
		if err == io.EOF {
			return s.end()
		}
		if err != nil {
			return err
		}
		if err := s.batch(b, pos); err != nil {
			return err
		}
	}
}

// batch checks one batch against everything that tells of it.
func (s *segment) batch(b record.Batch, pos int64) error {
	before := s.chain.next
	if err := s.chain.follow(s.log.source, b, pos, s.base); err != nil {
		return err
	}
	if b.BaseOffset() > before {
		s.producers.partial = true // compaction took what was between
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
		if err := s.times.see(s.replica.walk, b); err != nil {
			return err
		}
	}
	if err := s.epochs.see(s.replica.walk, b, max(s.start, s.first), s.recovery); err != nil {
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
	return s.txns.abort(s.replica.walk, s.producers, b.ProducerID(), first, b.LastOffset(), s.start)
}

// end is behind the last batch.
func (s *segment) end() error {
	s.sum.Bytes += s.log.pos
	if s.log.zeros > 0 {
		if err := s.mended(s.log.fault(s.log.pos, "%d zeros behind the last batch: the file is preallocated", s.log.zeros)); err != nil {
			return err
		}
	}
	if s.offsets != nil {
		if err := s.offsets.end(s.replica.walk, s.active); err != nil {
			return err
		}
	}
	if s.times != nil {
		if err := s.times.end(s.replica.walk, s.active); err != nil {
			return err
		}
	}
	return s.txns.end()
}
