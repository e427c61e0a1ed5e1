package checker

import (
	"cmp"
	"slices"
	"sort"

	"tidemark/model/kafka"
)

// span is what readers passed over without a break: [from, to), and the last
// poll that touches it.
type span struct {
	from, to kafka.Offset
	poll     int32
}

// spans joins the polls of a partition.
func (x *logIndex) spans(rd *reading) []span {
	if x.covered != nil || rd.polls.len() == 0 {
		return x.covered
	}
	all := make([]span, 0, rd.polls.len())
	for i := range rd.polls.len() {
		p := rd.polls.at(i)
		if n := len(all); n > 0 && p.from >= all[n-1].from && p.from <= all[n-1].to { // a reader goes on
			all[n-1].to, all[n-1].poll = max(all[n-1].to, p.end), int32(i)
		} else if p.from < p.end {
			all = append(all, span{p.from, p.end, int32(i)})
		}
	}
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	x.covered = all[:min(1, len(all))]
	for _, s := range all[len(x.covered):] {
		if last := &x.covered[len(x.covered)-1]; s.from <= last.to {
			last.to, last.poll = max(last.to, s.to), max(last.poll, s.poll)
			continue
		}
		x.covered = append(x.covered, s)
	}
	return x.covered
}

// coverAt is a late poll over an offset, nil if nobody read there: the last one
// where something is known to lie, else one that touches the same stretch.
func (x *logIndex) coverAt(rd *reading, o kafka.Offset) *poll {
	if i := x.find(o); i < len(x.places) && x.places[i].offset == o {
		return rd.poll(x.places[i].cover)
	}
	spans := x.spans(rd)
	i := sort.Search(len(spans), func(i int) bool { return spans[i].to > o })
	if i == len(spans) || spans[i].from > o {
		return nil
	}
	return rd.poll(spans[i].poll)
}
