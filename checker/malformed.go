package checker

import (
	"fmt"

	"tidemark/model/event"
)

// malformed: the history is one that clients can have had: it goes forward,
// what ends has begun, a producer ends one transaction at a time, and partitions
// are those that their topic has. (Sends and commits may overlap.) A history
// that is not proves nothing, so this breaks no promise: the verdict is unknown.
type malformed struct {
	tally
	last       uint64 // the event before
	partitions map[string]int32
	ending     map[ending]uint64 // ends of transactions that are not answered, and their events
	told       int
}

// ending is a producer that ends a transaction.
type ending struct{ client, transactionalID string }

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

func (m *malformed) finish(_ *facts, r *Report) {
	if m.told > mostUnknown {
		r.Unknown = append(r.Unknown, fmt.Sprintf("malformed: %d more events", m.told-mostUnknown))
	}
}

// why says what is wrong with an event, "" for nothing.
func (m *malformed) why(f *facts, e *event.Event) string {
	if e.Seq <= m.last && e.Seq != 0 {
		return fmt.Sprintf("comes after event %d: events are to be in order of seq", m.last)
	}
	switch e.Kind {
	case event.TopicCreated:
		if m.partitions == nil {
			m.partitions = map[string]int32{}
		}
		m.partitions[e.Topic] = e.Partition
	case event.SendInvoke:
		if e.Attempt == 0 {
			return fmt.Sprintf("is a send of %s without an attempt", e.Client)
		}
	case event.SendOK, event.SendFail, event.SendUnknown:
		if s := f.history.send(e.Attempt); s == nil || s.done != e.Seq {
			return fmt.Sprintf("ends attempt %d of %s, which is not open", event.Ordinal(e.Attempt), e.Client)
		}
	case event.PollOK:
		if e.End < e.Offset {
			return fmt.Sprintf("is a poll of %s from %d back to %d", e.Client, e.Offset, e.End)
		}
	case event.TxnEndInvoke, event.TxnEndOK, event.TxnEndFail, event.TxnEndUnknown, event.InitProducerInvoke:
		return m.end(e)
	default:
		return ""
	}
	if n, known := m.partitions[e.Topic]; known && e.Kind != event.TopicCreated && e.Partition >= n {
		return fmt.Sprintf("names %s, and the topic has %s", e.TP(), count(int(n), "partition"))
	}
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
	if m.ending == nil {
		m.ending = map[ending]uint64{}
	}
	m.ending[key] = e.Seq
	if busy {
		return fmt.Sprintf("is a second end of a transaction by %s while that of event %d is open", e.Client, open)
	}
	return ""
}
