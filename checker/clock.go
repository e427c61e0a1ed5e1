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
// the history tells it, not the largest of all. Exact clocks too leave open what
// came first at one instant: there the order of the history is that of its files,
// and only what one client did is in the order in which it did it.
type clocks struct {
	runs    []clockRun // where the error changes from one event to the next
	largest int64      // ns
	byTime  bool       // no counter numbered the events
	last    tie
	ties    []tie // events with the time of the one before or behind
}

// tie is an event that shares its time with another one.
type tie struct {
	seq    uint64
	at     int64
	client string
}

// clockSetting is the setting with which a history says what orders its events:
// seq, or time.
const clockSetting = "history.clock"

// clockRun is the error, ns, of the events from one on.
type clockRun struct {
	from uint64
	err  int64
}

func (c *clocks) observe(e *event.Event) {
	if e.Kind == event.Profile && e.Text == clockSetting+"=time" {
		c.byTime = true
	}
	if c.byTime && e.Seq > 0 {
		c.meet(tie{e.Seq, e.At, e.Client})
	}
	last := int64(0)
	if n := len(c.runs); n > 0 {
		last = c.runs[n-1].err
	}
	if e.ClockErr != last {
		c.runs = append(c.runs, clockRun{e.Seq, e.ClockErr})
		c.largest = max(c.largest, e.ClockErr)
	}
}

// meet keeps an event if it shares its time with the one before.
func (c *clocks) meet(is tie) {
	if c.last.seq > 0 && c.last.at == is.at {
		if n := len(c.ties); n == 0 || c.ties[n-1].seq != c.last.seq {
			c.ties = append(c.ties, c.last)
		}
		c.ties = append(c.ties, is)
	}
	c.last = is
}

// err reports whether the order of the history need not be the order of its events.
func (c *clocks) err() bool { return c.largest > 0 || c.byTime }

// own reports whether two events at one instant are of one client.
func (c *clocks) own(a, b stamp) bool {
	if a.at != b.at {
		return false
	}
	client := func(seq uint64) string {
		i, _ := slices.BinarySearchFunc(c.ties, seq, func(t tie, s uint64) int { return cmp.Compare(t.seq, s) })
		if i == len(c.ties) || c.ties[i].seq != seq {
			return ""
		}
		return c.ties[i].client
	}
	of := client(a.seq)
	return of != "" && of == client(b.seq)
}

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
	return a.seq < b.seq && (!c.err() || b.at-a.at > c.at(a.seq)+c.at(b.seq) || c.own(a, b))
}

// certain reports whether all pairs of events took place in that order for certain.
func (c *clocks) certain(order [][2]stamp) bool {
	return !slices.ContainsFunc(order, func(p [2]stamp) bool { return !c.before(p[0], p[1]) })
}

// least is the shortest time, ns, that can lie between two events.
func (c *clocks) least(a, b stamp) int64 { return b.at - a.at - c.at(a.seq) - c.at(b.seq) }

// most is the longest one.
func (c *clocks) most(a, b stamp) int64 { return b.at - a.at + c.at(a.seq) + c.at(b.seq) }

// called and answered are the two ends of a send.
func (s *send) called() stamp   { return stamp{s.invoked, s.at} }
func (s *send) answered() stamp { return stamp{s.done, s.doneAt} }

func (p *poll) stamp() stamp { return stamp{p.seq, p.at} }
