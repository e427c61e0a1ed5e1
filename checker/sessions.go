package checker

import (
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// sessions are the positions of consumers: one automaton for each client and
// partition, whether the application chose its partitions (assign) or a group
// did (subscribe).
//
//	         assigned              poll [from, end)
//	unknown ──────────▶ unknown ──────────────────▶ at end ──┐ poll from end
//	   ▲                                             ▲  ▲    │
//	   │ revoked, lost, crashed,                     │  └────┘
//	   └──────────── truncation told ────────────────┤
//	                                                 │ reset FROM>TO: at TO
//	       poll from elsewhere: a skip or a step back ┘
type sessions struct {
	positions map[session]*position
	crashed   map[string]uint64 // by client: the event
	last      *position
	lastOf    session
	step      pollStep // of the present event
}

type session struct {
	client string
	tp     kafka.TopicPartition
}

// position is where a consumer is in a partition.
type position struct {
	at    kafka.Offset
	known bool
	seq   uint64 // the event that it is known by
	txn   uint64 // the transaction that the last poll was part of, 0 for none
	op    uint64 // the poll, 0 for not known
	// since is the event with which an unbroken chain of polls began, and from
	// where; reset says whether that was told by an event.
	since   uint64
	sinceAt int64 // ns
	from    kafka.Offset
	reset   bool
}

// pollStep is what a poll did to a position that was known.
type pollStep struct {
	known bool
	was   kafka.Offset
	seq   uint64 // the event by which it was known
	// within: the step lies in one poll or in one transaction.
	within bool
}

func newSessions() sessions {
	return sessions{positions: map[session]*position{}, crashed: map[string]uint64{}}
}

func (s *sessions) position(key session) *position {
	if s.last != nil && s.lastOf == key {
		return s.last
	}
	p := s.positions[key]
	if p == nil {
		p = &position{}
		s.positions[key] = p
	}
	s.last, s.lastOf = p, key
	return p
}

// observe moves the automaton of an event's consumer.
func (s *sessions) observe(e *event.Event) {
	s.step = pollStep{}
	if e.Kind == event.ClientCrashed {
		s.crashed[e.Client] = e.Seq
		return
	}
	p := s.position(session{e.Client, e.TP()})
	if p.known && s.crashed[e.Client] > p.seq {
		p.known = false
	}
	switch e.Kind {
	case event.PositionReset:
		*p = position{at: e.End, known: true, seq: e.Seq, since: e.Seq, sinceAt: e.At, from: e.End, reset: true}
	case event.Assigned, event.Revoked, event.Lost, event.TruncationDetected:
		*p = position{seq: e.Seq, since: e.Seq, sinceAt: e.At, reset: true}
	case event.PollOK:
		s.polled(p, e)
	}
}

func (s *sessions) polled(p *position, e *event.Event) {
	txn := e.Who().Txn
	if p.known {
		s.step = pollStep{true, p.at, p.seq, e.Attempt != 0 && e.Attempt == p.op || txn != 0 && txn == p.txn}
	}
	if !p.known || p.at != e.Offset {
		if p.known || !p.reset {
			p.since, p.sinceAt = e.Seq, e.At
		}
		p.from = e.Offset
	}
	p.at, p.known, p.seq, p.txn, p.op = e.End, true, e.Seq, txn, e.Attempt
}
