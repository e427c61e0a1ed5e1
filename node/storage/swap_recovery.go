package storage

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tidemark/model/kafka"
)

// resumeSwap deals with what a swap left behind, before any segment is opened,
// and returns the names that are left to open. names are sorted.
//
//   - .cleaned: the new segment may not be complete. It goes, and so does .swap of
//     the same or a later base offset, whose renames were cut short.
//   - .swap: the new segment is complete, and counts. What it replaces is left out,
//     and set aside once the names under .swap are durable: a kill leaves them in
//     the cache alone.
//   - An index under .swap without its log: the log has its final name already.
//     Kafka renames the index too. Where renames may become durable out of order
//     the index may as well be that of an aborted swap, so the log's offset index
//     goes, which makes the segment be walked, and then the lone one.
func (l *Log) resumeSwap(names []string) ([]string, error) {
	names, err := l.dropCleaned(names)
	if err != nil {
		return nil, err
	}
	w := &swap{log: l, stage: naming}
	for _, n := range names {
		if base, ok := parseBase(n, logSuffix+swapSuffix); ok {
			if err := w.take(base, names); err != nil {
				return nil, err
			}
		}
	}
	names, err = w.takeLone(names)
	if err == nil && len(w.made) > 0 {
		names, err = w.takeReplaced(names)
	}
	if len(w.made) > 0 || len(w.left) > 0 {
		l.swap = w
		l.segments = append(l.segments, w.made...)
	}
	return names, err
}

// take opens the new segment of the given base offset. Its indexes may have their
// final names already, while that of the log was lost: then it is walked.
func (w *swap) take(base kafka.Offset, names []string) error {
	l := w.log
	s := newSegment(base, l.clock)
	s.suffix = swapSuffix
	if err := l.openSegment(s, names); err != nil {
		return err
	}
	has := func(kind string) bool {
		_, found := slices.BinarySearch(names, strings.TrimPrefix(segmentPath("", base), "/")+kind)
		return found
	}
	if !has(indexSuffix+swapSuffix) || !has(timeSuffix+swapSuffix) || has(txnSuffix) && !has(txnSuffix+swapSuffix) {
		s.unusable = true
	}
	w.made = append(w.made, s)
	return nil
}

// dropCleaned unlinks what is not complete.
func (l *Log) dropCleaned(names []string) (kept []string, err error) {
	first := kafka.Offset(math.MaxInt64)
	for _, n := range names {
		if strings.HasSuffix(n, cleanedSuffix) {
			first = min(first, baseOf(n))
		}
	}
	for _, n := range names {
		switch {
		case strings.HasSuffix(n, deletedSuffix): // gone already
		case strings.HasSuffix(n, cleanedSuffix), strings.HasSuffix(n, swapSuffix) && baseOf(n) >= first:
			if err := l.unlinkNow(n); err != nil {
				return nil, err
			}
		default:
			kept = append(kept, n)
		}
	}
	return kept, nil
}

// brings tells whether one of the new segments has this base offset.
func (w *swap) brings(base kafka.Offset) bool {
	return slices.ContainsFunc(w.made, func(s *segment) bool { return s.base == base })
}

// takeLone takes the indexes under .swap whose log is not out of the names, and
// unlinks the offset index that the log has.
func (w *swap) takeLone(names []string) (kept []string, err error) {
	var bases []kafka.Offset
	for _, n := range names {
		if base := baseOf(n); strings.HasSuffix(n, swapSuffix) && !w.brings(base) {
			bases = append(bases, base)
			w.left = append(w.left, n)
		}
	}
	for _, n := range names {
		base, isIndex := parseBase(n, indexSuffix)
		switch {
		case slices.Contains(w.left, n):
		case isIndex && slices.Contains(bases, base):
			if err := w.log.unlinkNow(n); err != nil {
				return nil, err
			}
		default:
			kept = append(kept, n)
		}
	}
	return kept, nil
}

// takeReplaced takes the files of what the new segments replace out of the names.
func (w *swap) takeReplaced(names []string) (kept []string, err error) {
	first, end := w.made[0].base, w.made[0].base
	for _, s := range w.made {
		next, err := s.readTail(&w.log.walk)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", segmentPath(w.log.dir, s.base)+logSuffix+swapSuffix, err)
		}
		end = max(end, next)
	}
	for _, n := range names {
		base := baseOf(n)
		switch {
		case strings.HasSuffix(n, swapSuffix):
		case base > first && base < end, isSegmentFile(n) && w.brings(base):
			w.left = append(w.left, n)
			continue
		}
		kept = append(kept, n)
	}
	return kept, nil
}

// goOn waits until what the start rebuilt, and the names that it found, are
// durable, and goes on with the swap.
func (w *swap) goOn() {
	l := w.log
	w.waiting = 1
	for _, s := range l.segments {
		if s.dirty {
			s.dirty = false
			s.log.Sync(w.token())
		}
		for _, x := range s.indexes() {
			if x.dirty {
				x.dirty = false
				x.file.Sync(w.token())
			}
		}
	}
	l.fs.SyncDir(w.token(), l.dir)
	w.synced(nil)
}

func (l *Log) unlinkNow(name string) error {
	l.dirDirty = true
	return l.fs.Remove(l.dir + "/" + name)
}

// baseOf is the offset that a file name begins with, NoOffset for none.
func baseOf(name string) kafka.Offset {
	digits, suffix, _ := strings.Cut(name, ".")
	base, ok := parseBase(digits+"."+suffix, "."+suffix)
	if !ok {
		return kafka.NoOffset
	}
	return base
}

// isSegmentFile tells the files of a segment from producer snapshots.
func isSegmentFile(name string) bool {
	for _, kind := range [...]string{logSuffix, indexSuffix, timeSuffix, txnSuffix} {
		if strings.HasSuffix(name, kind) {
			return true
		}
	}
	return false
}

// sortSegments puts the segments that resumeSwap opened among the others.
func (l *Log) sortSegments() {
	slices.SortStableFunc(l.segments, func(a, b *segment) int { return cmp.Compare(a.base, b.base) })
}
