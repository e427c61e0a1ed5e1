package reports

import (
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// life follows one replica over the deaths of its broker, because what a
// replica says when it comes back has a meaning only beside what it had before
// and what its broker may do: a new log that is empty, or a leadership of which
// it has read in metadata older than its own registration.
type life struct {
	end  kafka.Offset // the log end known last, of an earlier life too
	open bool         // its log end is told in this life
	led  kafka.LeaderEpoch
	// starting: its broker has booted and is not registered yet. A leader is
	// idle if it became so meanwhile, because the registration takes every
	// leadership from the broker before it serves; or if the controller has ended
	// its epoch. It counts as a leader from the first record on that it takes.
	starting, idle bool
}

// lives are the replicas of a partition, by broker. The zero value is of none.
type lives struct {
	replicas map[kafka.BrokerID]*life
	epoch    kafka.LeaderEpoch // of the last election
}

func (ls *lives) of(node kafka.BrokerID) *life {
	if ls.replicas == nil {
		ls.replicas = map[kafka.BrokerID]*life{}
	}
	l := ls.replicas[node]
	if l == nil {
		l = &life{led: kafka.NoEpoch}
		ls.replicas[node] = l
	}
	return l
}

// node takes what befalls a broker in.
func (ls *lives) node(e *event.Event) {
	switch e.Kind {
	case event.Died:
		l := ls.of(e.Node)
		l.open, l.idle = false, false
	case event.Boot:
		ls.of(e.Node).starting = true
	case event.Registered:
		ls.of(e.Peer).starting = false
	case event.Ready:
		ls.of(e.Node).starting = false
	}
}

// elected takes the controller's choice of a leader in.
func (ls *lives) elected(e *event.Event) { ls.epoch = e.Epoch }

// change is what an event of a replica means beside its earlier lives.
type change struct {
	// before is the log end of the earlier life if the present one begins with
	// less, else NoOffset.
	before kafka.Offset
	idle   bool // it became leader, and idle
	ended  bool // and that in an epoch that the controller has ended
	again  bool // and that in the epoch that it led in an earlier life
	serves bool // an idle leader leads from here on
}

// replica takes an event of a replica in.
func (ls *lives) replica(e *event.Event) change {
	l, c := ls.of(e.Node), change{before: kafka.NoOffset}
	switch e.Kind {
	case event.Recovered, event.BecameLeader, event.BecameFollower:
		if !l.open && e.End < l.end {
			c.before = l.end
		}
		l.open, l.idle = true, false
	case event.Appended:
		c.serves = l.idle && e.Text == "leader"
	}
	if e.Kind == event.BecameLeader {
		c.ended, c.again = e.Epoch < ls.epoch, l.led == e.Epoch
		c.idle = l.starting || c.ended
		l.idle, l.led = c.idle, e.Epoch
	}
	if c.serves {
		l.idle = false
	}
	if e.End != kafka.NoOffset {
		l.end = e.End
	}
	return c
}
