package checker

import (
	"sort"

	"tidemark/model/kafka"
)

// batch is what the trace tells of one batch. It covers [base, end); a batch
// whose content is not known (appended when nobody reported it) matches any.
type batch struct {
	base, end kafka.Offset
	crc       uint64 // 0: not known
	epoch     kafka.LeaderEpoch
	known     bool
	// cleaned: copied from a log that the cleaner had passed, so that it may lack
	// records, all of them even, and have another checksum.
	cleaned bool
}

// same reports whether two batches may be the same one. Where a checksum is
// missing, the borders may be those of several batches reported as one. A cleaned
// batch keeps its place and its epoch.
func (b *batch) same(o *batch) bool {
	if !b.known || !o.known {
		return true
	}
	if b.crc == 0 || o.crc == 0 {
		return b.epoch == o.epoch
	}
	if b.cleaned || o.cleaned {
		return b.epoch == o.epoch && b.base == o.base
	}
	return b.base == o.base && b.epoch == o.epoch && b.crc == o.crc
}

// batches is the content of a log over [start, end), without gaps, in order.
type batches struct {
	start, end kafka.Offset
	list       []batch
}

// add appends a batch. One that leaves a gap is preceded by unknown content;
// one that overlaps replaces what it overlaps.
func (l *batches) add(b batch) {
	if b.base < l.end {
		l.cutTo(b.base)
	}
	l.fill(b.base)
	l.list = append(l.list, b)
	l.end = b.end
}

// fill extends the log with unknown content up to end.
func (l *batches) fill(end kafka.Offset) {
	if end > l.end {
		l.list = append(l.list, batch{base: l.end, end: end})
		l.end = end
	}
}

// cutTo drops everything from end on; a batch astride is clipped.
func (l *batches) cutTo(end kafka.Offset) {
	if end >= l.end {
		return
	}
	if end <= l.start {
		l.restart(end)
		return
	}
	last := l.index(end - 1)
	l.list = l.list[:last+1]
	l.list[last].end = end
	l.end = end
}

// restart empties the log and lets it begin at start.
func (l *batches) restart(start kafka.Offset) {
	l.list, l.start, l.end = l.list[:0], start, start
}

// index is the place of the batch that covers o, len(list) if none does.
func (l *batches) index(o kafka.Offset) int {
	return sort.Search(len(l.list), func(i int) bool { return l.list[i].end > o })
}

// copyFrom extends the log with another's content up to end.
func (l *batches) copyFrom(o *batches, end kafka.Offset) {
	for i := o.index(l.end); i < len(o.list) && l.end < end && o.list[i].base <= l.end; i++ {
		b := o.list[i]
		b.end = min(b.end, end)
		l.list = append(l.list, b)
		l.end = b.end
	}
	l.fill(end)
}

// firstDifference is the first offset in [from, to) at which the logs do not
// hold the same batch, or to.
func firstDifference(a, b *batches, from, to kafka.Offset) kafka.Offset {
	i, j := a.index(from), b.index(from)
	for from < to {
		if i == len(a.list) || j == len(b.list) || from < a.start || from < b.start || !a.list[i].same(&b.list[j]) {
			return from
		}
		from = min(a.list[i].end, b.list[j].end)
		if from >= a.list[i].end {
			i++
		}
		if from >= b.list[j].end {
			j++
		}
	}
	return to
}
