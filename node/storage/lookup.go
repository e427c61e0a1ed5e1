package storage

import (
	"errors"
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

// errStop ends a walk over records early.
var errStop = errors.New("found")

// FindTimestamp finds the first record at or after the log start whose timestamp
// is t or later; false if there is none. An error that wraps
// record.ErrCompressed says that the batch cannot be read; any other is the
// disk's, and the log has failed.
func (l *Log) FindTimestamp(t kafka.Timestamp) (TimestampOffset, bool, error) {
	for _, s := range l.segments {
		if s.largest.timestamp < t {
			continue
		}
		found, ok, err := l.findIn(s, t)
		if err != nil && !errors.Is(err, record.ErrCompressed) {
			err = l.failing("look up a timestamp in", err)
		}
		if ok || err != nil {
			return found, ok, err
		}
	}
	return TimestampOffset{}, false, nil
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
			if found, ok, err = firstSince(b, t, l.start); ok || err != nil {
				return found, ok, err
			}
		}
		w.skip(size)
	}
}

// firstSince is the first record of b at or after offset start whose timestamp
// is t or later.
func firstSince(b record.Batch, t kafka.Timestamp, start kafka.Offset) (found TimestampOffset, ok bool, err error) {
	err = b.Each(func(r record.Record) error {
		if r.Timestamp < t || r.Offset < start {
			return nil
		}
		found, ok = TimestampOffset{r.Timestamp, r.Offset, b.LeaderEpoch()}, true
		return errStop
	})
	if err == errStop {
		err = nil
	}
	return found, ok, err
}
