package storage

import (
	"errors"
	"fmt"
	"io"
	"math"

	"tidemark/model/kafka"
	"tidemark/model/record"
	"tidemark/model/rules"
)

// recoverer walks the segments of a log that is opened.
type recoverer struct {
	*Log
	found   Opening
	reindex bool     // the indexes of what is walked are made anew
	walked  *segment // the last one that was walked, nil for none
	trusted bool     // what is walked is below the recovery point, and its epochs are known
	rec     Recovery
	next    kafka.Offset      // after the last batch walked
	epoch   kafka.LeaderEpoch // of the last batch walked
}

// recover brings the opened segments into a state from which the log can go on:
// after a clean stop by trusting them, else by walking every batch from the
// segment on that holds the last offset below the recovery point. That segment may
// end there, and still have been written to since the flush: by the roll, or by the
// start before this one. What lies before was flushed, or is below the log start,
// where nobody reads and retention is at work.
func (l *Log) recover(o Opening) (Recovery, error) {
	r := &recoverer{Log: l, found: o, reindex: o.Rules.RebuildIndexes, rec: Recovery{Clean: true, CutAt: kafka.NoOffset}, epoch: kafka.NoEpoch}
	from := len(l.segments)
	first := l.floor(o.LogStart)
	point, walk := o.Rules.Walk(rules.LogFound{Clean: o.Clean, RecoveryPoint: o.RecoveryPoint, LogStart: o.LogStart})
	if walk && from > 0 {
		from = l.floor(point)
		l.dirDirty, l.parentDirty = true, true // names may be in the cache alone
	}
	for i, s := range l.segments {
		odd := s.unusable || s.doubtful && r.reindex
		if err := l.readyIndexes(s, odd && first <= i && i < from && s.suffix == ""); err != nil {
			return r.rec, err
		}
	}
	for i := first; i < len(l.segments); i++ {
		if s := l.segments[i]; i < from && !s.unusable && !s.doubtful {
			continue
		}
		r.trusted = i < from
		if err := r.walkSegment(i, i > from); err != nil {
			return r.rec, err
		}
	}
	l.walk.release()
	if err := r.findEnd(o); err != nil {
		return r.rec, err
	}
	l.recovery = min(o.RecoveryPoint, l.end)
	if r.rec.Clean {
		l.recovery = l.end
	}
	r.rec.Clean = r.rec.Clean && o.Clean
	return r.rec, nil
}

// walkSegment rebuilds what the i-th segment's file says, and drops what
// follows it if it is damaged. joined tells that the one before was walked too:
// then it must end where this one begins, or may be apart from it, else a segment
// between them is lost, or the end of the one before.
//
// What follows stays if it begins at the very cut: an earlier start cut there and the
// log was rolled at once, so nothing was behind, but bytes of which a power loss undid
// the cut.
func (r *recoverer) walkSegment(i int, joined bool) error {
	s := r.segments[i]
	r.rec.Clean, r.walked = false, s
	if joined && s.base != r.next && !r.mayBeApart(i) {
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
	if i+1 < len(r.segments) && r.segments[i+1].base == r.next {
		return nil
	}
	return r.dropFrom(i + 1)
}

// mayBeApart tells that the hole before the i-th segment is no loss: it lies below the
// recovery point, so what is left there is what was flushed, or cleaned; or no end of
// the segment before, which counts its offsets in 32 bits, reached so far. Of a
// compacted log whose recovery point is lost nothing tells, and Kafka's way is taken,
// which keeps everything.
func (r *recoverer) mayBeApart(i int) bool {
	base, before := r.segments[i].base, r.segments[i-1].base
	switch {
	case base < r.next:
		return false
	case base <= max(r.found.RecoveryPoint, r.found.CleanedUpTo):
		return true
	case r.cfg.Compacted && r.found.RecoveryPoint == 0 && !r.found.PointKnown:
		return true
	}
	return int64(base-before) > math.MaxInt32+1
}

// rebuild walks a segment from its start: it makes its indexes anew, adds epochs
// to the cache and batches to their producers, and cuts the file at the first
// batch that no writer left there, which it returns as damage.
func (r *recoverer) rebuild(s *segment) (damage, err error) {
	w := &r.walk
	w.scan(s.log, s.size)
	interval, reindex := r.cfg.IndexIntervalBytes, r.reindex || s.unusable
	if !reindex {
		interval = math.MaxInt32 // the indexes say what they say
	}
	if err := s.empty(reindex); err != nil {
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
		s.note(b, len(b), interval)
		r.noteEpoch(b)
		if err := r.noteBatch(s, b); err != nil {
			return nil, err
		}
		r.next = b.NextOffset()
	}
	if damage != nil {
		if err := s.cutLog(s.size); err != nil {
			return nil, err
		}
	}
	if !reindex {
		return damage, nil
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
// epoch file, or older after a truncation that the file did not see. A segment that
// is walked for its indexes alone says nothing new, and its epochs are not the last.
func (r *recoverer) noteEpoch(b record.Batch) {
	e := b.LeaderEpoch()
	r.epoch = max(r.epoch, e)
	if r.trusted {
		return
	}
	if known, ok := r.epochs.EpochAt(b.LastOffset()); ok && known == e {
		return
	}
	r.epochs.trimEnd(b.BaseOffset())
	if e >= 0 {
		r.epochs.trimAbove(e) // the records of later ones, in a gap before this batch, are lost
	}
	if e > r.LastEpoch() {
		r.epochs.assign(e, b.BaseOffset())
	}
}

func (r *recoverer) noteCut(s *segment, pos int64, reason string) {
	if r.rec.CutAt == kafka.NoOffset {
		r.rec.cutIn = s.base
	}
	r.rec.CutAt, r.rec.CutFile, r.rec.CutPos = r.next, segmentPath(r.dir, s.base)+logSuffix, pos
	r.rec.Reason = reason
}

// findEnd finds the log end in the active segment. A log that ends before it
// starts, or has no segment, is begun anew at its start.
func (r *recoverer) findEnd(o Opening) error {
	if n := len(r.segments); n > 0 {
		end, err := r.tail(r.segments[n-1])
		if err != nil {
			return err
		}
		if end >= o.LogStart {
			r.end = end
			return r.active().readFirst(&r.walk)
		}
		r.next = o.LogStart
		r.noteCut(r.active(), 0, fmt.Sprintf("the log ends at %d, before its start", end))
	}
	r.end = o.LogStart
	return r.beginAnew(o.LogStart)
}

// tail is the offset after the last whole batch of a segment that was walked, or
// is believed.
// Bytes behind it that are less than a batch stay, and appends go behind them, as
// in Kafka; where no batch can begin at all, the directory is refused.
func (r *recoverer) tail(s *segment) (kafka.Offset, error) {
	if s == r.walked {
		return r.next, nil
	}
	end, err := s.readTail(&r.walk)
	switch {
	case errors.Is(err, record.ErrTruncated):
		return end, nil
	case errors.Is(err, record.ErrCorrupt):
		return 0, fmt.Errorf("%s, byte %d, is not recovered because the stop before was clean: %w", segmentPath(r.dir, s.base)+logSuffix, r.walk.pos, err)
	}
	return end, err
}

// empty makes the segment's account that of an empty file, before its batches
// are noted again; its indexes too if they are made anew.
func (s *segment) empty(reindex bool) error {
	s.size, s.sinceEntry = 0, 0
	s.first, s.largest = record.NoTimestamp, timePoint{record.NoTimestamp, s.base}
	s.dirty, s.unusable, s.doubtful = true, false, false
	if !reindex {
		return s.txns.reset() // which the walk fills by what batches say
	}
	return errors.Join(s.index.reset(), s.times.reset(), s.txns.reset())
}
