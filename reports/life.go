package reports

import (
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// life follows one replica over the deaths of its broker, because what a
// replica says when it comes back has a meaning only beside what it had before:
// a new log that is empty, or an epoch that it leads for the second time.
type life struct {
	end  kafka.Offset // the log end known last, of an earlier life too
	open bool         // its log end is told in this life
	led  kafka.LeaderEpoch
	// leading in this life; idle: in an epoch that it led in an earlier life.
	// It has read so in metadata older than its registration, which took the
	// leadership from it, and its router serves nobody yet. It counts as leader
	// again from the first record on that it takes.
	leading, idle bool
}

func newLife() life { return life{led: kafka.NoEpoch} }

func (l *life) die() { l.open, l.leading, l.idle = false, false, false }

// take takes an event of the replica in. before is the log end of the earlier
// life if the present one begins with less, else NoOffset.
func (l *life) take(e *event.Event) (before kafka.Offset) {
	before = kafka.NoOffset
	switch e.Kind {
	case event.Recovered, event.BecameLeader, event.BecameFollower:
		if !l.open && e.End < l.end {
			before = l.end
		}
		l.open = true
	case event.Appended, event.Truncated:
		l.idle = l.idle && e.Text != "leader"
	default:
		return before
	}
	switch e.Kind {
	case event.BecameLeader:
		l.idle = !l.leading && l.led == e.Epoch
		l.leading, l.led = true, e.Epoch
	case event.BecameFollower:
		l.leading, l.idle = false, false
	}
	l.end = e.End
	return before
}
