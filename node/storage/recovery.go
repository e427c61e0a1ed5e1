package storage

import (
	"errors"
	"fmt"
	"io"
	"math"

	"tidemark/model/kafka"
	"tidemark/model/record"
)

// recoverer walks the segments of a log that is opened.
type recoverer struct {
	*Log
	rec   Recovery
	next  kafka.Offset      // after the last batch walked
	epoch kafka.LeaderEpoch // of the last batch walked
}

// recover brings the opened segments into a state from which the log can go on:
// after a clean stop by trusting them, else by walking every batch from the
// segment that holds the recovery point on. What lies before was flushed.
func (l *Log) recover(o Opening) (Recovery, error) {
	r := &recoverer{Log: l, rec: Recovery{Clean: true, CutAt: kafka.NoOffset}, epoch: kafka.NoEpoch}
	from := len(l.segments)
	if !o.Clean && from > 0 {
		from = l.floor(o.RecoveryPoint)
		l.dirDirty, l.parentDirty = true, true // names may be in the cache alone
	}
	for i := 0; i < len(l.segments); i++ {
		if i < from && !l.segments[i].unusable {
			continue
		}
		if err := r.walkSegment(i, i > from); err != nil {
			return r.rec, err
		}
	}
	if err := r.findEnd(o); err != nil {
		return r.rec, err
	}
	l.recovery = min(o.RecoveryPoint, l.end)
	if r.rec.Clean {
		l.recovery = l.end
	}
	return r.rec, nil
}

// walkSegment rebuilds what the i-th segment's file says, and drops what
// follows it if it is damaged. joined tells that the one before was walked too:
// then it must end where this one begins, else a segment between them is lost.
func (r *recoverer) walkSegment(i int, joined bool) error {
	s := r.segments[i]
	r.rec.Clean = false
	if joined && s.base != r.next {
		r.noteCut(s, 0, fmt.Sprintf("offsets %d to %d are missing before it", r.next, s.base-1))
		return r.dropFrom(i)
	}
	if err := r.rebuildProducers(s.base, false); err != nil {
		return err
	}
	damage, err := r.rebuild(s)
	if err == nil {
		err = r.takeSnapshot() // for the segments to come, which need not walk this one again
	}
	if err != nil || damage == nil {
		return err
	}
	r.noteCut(s, s.size, damage.Error())
	return r.dropFrom(i + 1)
}

// rebuild walks a segment from its start: it makes both indexes anew, adds
// epochs to the cache and batches to their producers, and cuts the file at the first batch that no writer left
// there, which it returns as damage.
func (r *recoverer) rebuild(s *segment) (damage, err error) {
	w := &r.walk
	w.reset(s.log, 0, s.size)
	if err := s.empty(); err != nil {
		return nil, err
	}
	for r.next = s.base; ; {
		b, err := w.next()
		if err == io.EOF {
			break
		}
		if damage = r.judge(s, b, err); damage != nil {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := s.note(b, len(b), r.cfg.IndexIntervalBytes); err != nil {
			return nil, err
		}
		r.noteEpoch(b)
		r.producers.note(b)
		r.next = b.NextOffset()
	}
	if damage != nil {
		if err := s.cutLog(s.size); err != nil {
			return nil, err
		}
	}
	return damage, s.seal()
}

// judge tells what is wrong with the next batch of segment s. Besides torn and
// damaged batches that is the old tail of a file whose truncation was lost:
// offsets and leader epochs never fall in a log.
func (r *recoverer) judge(s *segment, b record.Batch, err error) error {
	switch {
	case errors.Is(err, record.ErrTruncated), errors.Is(err, record.ErrCorrupt):
		return err
	case err != nil:
		return nil
	case b.BaseOffset() < r.next || b.LastOffsetDelta() < 0 || int64(b.LastOffset()-s.base) > math.MaxInt32:
		return fmt.Errorf("%w: offsets %d to %d follow offset %d", record.ErrCorrupt, b.BaseOffset(), b.LastOffset(), r.next-1)
	case b.LeaderEpoch() >= 0 && b.LeaderEpoch() < r.epoch:
		return fmt.Errorf("%w: leader epoch %d follows epoch %d", record.ErrCorrupt, b.LeaderEpoch(), r.epoch)
	}
	return nil
}

// noteEpoch corrects the cache by a batch: what is walked may be newer than the
// epoch file, or older after a truncation that the file did not see.
func (r *recoverer) noteEpoch(b record.Batch) {
	e := b.LeaderEpoch()
	r.epoch = max(r.epoch, e)
	if known, ok := r.epochs.EpochAt(b.LastOffset()); ok && known == e {
		return
	}
	r.epochs.trimEnd(b.BaseOffset())
	if e > r.LastEpoch() {
		r.epochs.assign(e, b.BaseOffset())
	}
}

func (r *recoverer) noteCut(s *segment, pos int64, reason string) {
	r.rec.CutAt, r.rec.CutFile, r.rec.CutPos = r.next, segmentPath(r.dir, s.base)+logSuffix, pos
	r.rec.Reason = reason
}

// findEnd finds the log end in the active segment. A log that ends before it
// starts, or has no segment, is begun anew at its start.
func (r *recoverer) findEnd(o Opening) error {
	if n := len(r.segments); n > 0 {
		end, err := r.segments[n-1].readTail(&r.walk)
		if errors.Is(err, record.ErrTruncated) || errors.Is(err, record.ErrCorrupt) {
			err = r.walkSegment(n-1, false) // not so clean after all
			end = r.next
		}
		if err != nil {
			return err
		}
		if end >= o.LogStart {
			r.end = end
			return r.active().readFirst(&r.walk)
		}
		r.next = o.LogStart
		r.noteCut(r.active(), 0, fmt.Sprintf("the log ends at %d, before its start", end))
		if err := r.dropFrom(0); err != nil {
			return err
		}
	}
	r.end = o.LogStart
	return r.startSegment(o.LogStart)
}

// empty makes the segment's account that of an empty file, before its batches
// are noted again.
func (s *segment) empty() error {
	s.size, s.sinceEntry = 0, 0
	s.first, s.largest = record.NoTimestamp, timePoint{record.NoTimestamp, s.base}
	s.dirty, s.unusable = true, false
	return errors.Join(s.index.reset(), s.times.reset())
}
