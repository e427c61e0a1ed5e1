package checker

import (
	"cmp"
	"slices"

	"tidemark/model/event"
)

// clocks is how wrong the time of each event may be, either way. Where one counter
// numbered all events there is no error and their order is known. Where only clocks
// order them, one event came before another for certain only if more than both
// their errors lies between:
//
//	a ──●── err ──┤        a and b: for certain
//	          ├── err ──●── b
//	     ├── err ──●── c   a and c: nobody knows
//
// An exact clock beside a bad one keeps its worth: the error is each event's own, as
// the history tells it, not the largest of all.
type clocks struct {
	runs    []clockRun // where the error changes from one event to the next
	largest int64      // ns
}

// clockRun is the error, ns, of the events from one on.
type clockRun struct {
	from uint64
	err  int64
}

func (c *clocks) observe(e *event.Event) {
	last := int64(0)
	if n := len(c.runs); n > 0 {
		last = c.runs[n-1].err
	}
	if e.ClockErr != last {
		c.runs = append(c.runs, clockRun{e.Seq, e.ClockErr})
		c.largest = max(c.largest, e.ClockErr)
	}
}

// err reports whether some clock errs at all.
func (c *clocks) err() bool { return c.largest > 0 }

// at is the error of an event's time, ns.
func (c *clocks) at(seq uint64) int64 {
	i, _ := slices.BinarySearchFunc(c.runs, seq+1, func(r clockRun, s uint64) int { return cmp.Compare(r.from, s) })
	if i == 0 {
		return 0
	}
	return c.runs[i-1].err
}

// before reports whether a came before b for certain.
func (c *clocks) before(a, b stamp) bool {
	return a.seq < b.seq && (!c.err() || b.at-a.at > c.at(a.seq)+c.at(b.seq))
}

// least is the shortest time, ns, that can lie between two events.
func (c *clocks) least(a, b stamp) int64 { return b.at - a.at - c.at(a.seq) - c.at(b.seq) }

// most is the longest one.
func (c *clocks) most(a, b stamp) int64 { return b.at - a.at + c.at(a.seq) + c.at(b.seq) }

// called and answered are the two ends of a send.
func (s *send) called() stamp   { return stamp{s.invoked, s.at} }
func (s *send) answered() stamp { return stamp{s.done, s.doneAt} }

func (p *poll) stamp() stamp { return stamp{p.seq, p.at} }
