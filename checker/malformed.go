package checker

import (
	"fmt"

	"tidemark/model/event"
)

// malformed: the history is one that clients can have had: it goes forward,
// what ends has begun, a producer ends one transaction at a time, a group's member
// polls what was assigned to it, partitions are those that their topic has, and no
// event contradicts itself (impossible). Sends and commits may overlap. A history
// that is not such proves nothing, so this breaks no promise: the verdict is unknown.
type malformed struct {
	tally
	last       uint64 // the event before
	partitions map[string]int32
	ending     map[ending]uint64 // ends of transactions that are not answered, and their events
	began      map[uint64]stamp  // by transaction
	assigned   map[session]bool  // partitions that a group gave to a client, once
	members    map[string]bool   // clients that a group gave anything
	told       int
}

// ending is a producer that ends a transaction.
type ending struct{ client, transactionalID string }

func newMalformed() *malformed {
	return &malformed{partitions: map[string]int32{}, ending: map[ending]uint64{}, began: map[uint64]stamp{}, assigned: map[session]bool{}, members: map[string]bool{}}
}

func (*malformed) name() string { return "malformed" }
func (*malformed) hygienic()    {}

func (m *malformed) observe(f *facts, e *event.Event, r *Report) {
	m.checks++
	if why := m.why(f, e); why != "" {
		if m.told++; m.told <= mostUnknown {
			r.Unknown = append(r.Unknown, fmt.Sprintf("malformed: event %d %s", e.Seq, why))
		}
	}
	m.last = e.Seq
}

func (m *malformed) finish(f *facts, r *Report) {
	if more := max(0, m.told-mostUnknown) + max(0, f.misformed-mostUnknown); more > 0 {
		r.Unknown = append(r.Unknown, fmt.Sprintf("malformed: %s more", count(more, "event")))
	}
}

// why says what is wrong with an event, "" for nothing.
func (m *malformed) why(f *facts, e *event.Event) string {
	if e.Seq <= m.last && e.Seq != 0 {
		return fmt.Sprintf("comes after event %d: events are to be in order of seq", m.last)
	}
	switch e.Kind {
	case event.TopicCreated:
		m.partitions[e.Topic] = e.Partition
		return ""
	case event.SendInvoke:
		if e.Attempt == 0 {
			return fmt.Sprintf("is a send of %s without an attempt", e.Client)
		}
	case event.SendOK, event.SendFail, event.SendUnknown:
		if s := f.history.send(e.Attempt); s == nil || s.done != e.Seq {
			return fmt.Sprintf("ends attempt %d of %s, which is not open", event.Ordinal(e.Attempt), e.Client)
		}
		if why := f.history.strayed; why != "" {
			return fmt.Sprintf("ends attempt %d and %s", event.Ordinal(e.Attempt), why)
		}
	case event.Assigned:
		if e.Who().Group != "" {
			m.assigned[session{e.Client, e.TP()}], m.members[e.Client] = true, true
		}
	case event.PollOK:
		if e.Who().Group != "" && m.members[e.Client] && !m.assigned[session{e.Client, e.TP()}] {
			return fmt.Sprintf("is a poll of %s, which group %s never assigned to %s", e.TP(), e.Session.Group, e.Client)
		}
	case event.TxnBegin:
		return m.begin(e)
	case event.TxnEndInvoke, event.TxnEndOK, event.TxnEndFail, event.TxnEndUnknown, event.InitProducerInvoke:
		return m.end(e)
	}
	if n, known := m.partitions[e.Topic]; known && e.Partition >= n && e.Client != "" {
		return fmt.Sprintf("names %s, and the topic has %s", e.TP(), count(int(n), "partition"))
	}
	return impossible(e)
}

// begin keeps book of transactions: each begins once.
func (m *malformed) begin(e *event.Event) string {
	id := e.Who().Txn
	if id == 0 {
		return fmt.Sprintf("is a transaction of %s without a number", e.Client)
	}
	if first, again := m.began[id]; again {
		return fmt.Sprintf("begins transaction %d, which began at event %d", id, first.seq)
	}
	m.began[id] = stampOf(e)
	return ""
}

// end keeps book of a producer's ends of transactions. One that starts anew ends
// what was open.
func (m *malformed) end(e *event.Event) string {
	key := ending{e.Client, e.Who().TransactionalID}
	open, busy := m.ending[key]
	if e.Kind != event.TxnEndInvoke {
		delete(m.ending, key)
		return ""
	}
	m.ending[key] = e.Seq
	if busy {
		return fmt.Sprintf("is a second end of a transaction by %s while that of event %d is open", e.Client, open)
	}
	return ""
}
