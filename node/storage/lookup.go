package storage

import (
	"io"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// TimestampOffset is the answer to a look-up by time.
type TimestampOffset struct {
	Timestamp kafka.Timestamp
	Offset    kafka.Offset
	Epoch     kafka.LeaderEpoch
}

// FindTimestamp finds the first record at or after the log start whose timestamp
// is t or later; false if there is none. An error is the disk's, or comes of
// records that no leader would have let in, and the log has failed.
func (l *Log) FindTimestamp(t kafka.Timestamp) (TimestampOffset, bool, error) {
	for _, s := range l.segments[l.floor(l.start):] {
		if s.largest.timestamp < t {
			continue
		}
		found, ok, err := l.findIn(s, t)
		if err != nil {
			err = l.unreadable("look up a timestamp in", err)
		}
		if ok || err != nil {
			return found, ok, err
		}
	}
	return TimestampOffset{}, false, nil
}

// LargestTimestamp is the largest timestamp of the log's batches, ms; -1 if none
// has one.
func (l *Log) LargestTimestamp() kafka.Timestamp {
	largest := record.NoTimestamp
	for _, s := range l.segments[l.floor(l.start):] {
		largest = max(largest, s.largest.timestamp)
	}
	return largest
}

func (l *Log) findIn(s *segment, t kafka.Timestamp) (found TimestampOffset, ok bool, err error) {
	w := &l.walk
	from := max(s.times.lookup(t).offset, l.start)
	for w.reset(s.log, s.index.lookup(from), s.size); ; {
		header, size, err := w.head()
		if err == io.EOF {
			return found, false, nil
		}
		if err != nil {
			return found, false, err
		}
		if header.MaxTimestamp() >= t && header.LastOffset() >= l.start {
			b, err := w.batch(size)
			if err != nil {
				return found, false, err
			}
			if found, ok, err = l.firstSince(b, t); ok || err != nil {
				return found, ok, err
			}
		}
		w.skip(size)
	}
}

// firstSince is the first record of b at or after the log start whose timestamp
// is t or later.
func (l *Log) firstSince(b record.Batch, t kafka.Timestamp) (found TimestampOffset, ok bool, err error) {
	it := &l.records
	for it.ResetWith(l.inflater, b); it.Next(); {
		if r := it.Record(); r.Timestamp >= t && r.Offset >= l.start {
			return TimestampOffset{r.Timestamp, r.Offset, b.LeaderEpoch()}, true, nil
		}
	}
	return found, false, it.Err()
}
