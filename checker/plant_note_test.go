package checker

import (
	"slices"
	"time"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// noteFaults are what Kafka never promised not to do; a note tells of them.
var noteFaults = []fault{
	{name: "an application sends again what landed", rule: "app-duplicate", says: noted, plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if !h.acked(i) || e.Hash == 0 || len(h.polls(i)) == 0 {
			return nil
		}
		k := h.find(i, func(x *event.Event) bool {
			return x.Kind == event.SendInvoke && x.TP() == e.TP() && x.Client == e.Client
		})
		if k < 0 {
			return nil
		}
		again := h.events[k].Attempt
		all := h.with(func(e *event.Event) {
			e.Kind, e.Offset, e.Code = event.SendUnknown, kafka.NoOffset, kafka.RequestTimedOut
		}, i)
		for p := range all {
			if x := &all[p]; x.Attempt == again && x.Client == e.Client {
				x.Hash = e.Hash
			}
			for r := range all[p].Records {
				if x := &all[p].Records[r]; x.Attempt == again {
					x.Hash = e.Hash
				}
			}
		}
		return all
	}},
	{name: "another producer writes within a transaction", rule: "int-send-skip", says: noted, plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.SendOK || e.Who().Txn == 0 || h.committed(e.Who().Txn) < 0 {
			return nil
		}
		next := h.find(0, func(x *event.Event) bool {
			return x.Kind == event.SendOK && x.TP() == e.TP() && x.Who().Txn == e.Who().Txn && x.Offset == e.Offset+1
		})
		if next < 0 {
			return nil
		}
		end := h.committed(e.Who().Txn)
		all := newClean(h.name, h.upTo(end).shifted(e.TP(), e.Offset+1)).events
		invoke, ok := h.another("between", nil, "")
		invoke.Partition, ok.Partition, ok.Offset = e.Partition, e.Partition, e.Offset+1
		return inserted(all, min(i, next), invoke, ok)
	}},
	{name: "two transactions write in two orders", rule: "write-cycle", says: noted, plant: func(h *clean, i int) []event.Event {
		a := &h.events[i]
		if a.Kind != event.SendOK || a.Who().Txn == 0 || h.committed(a.Who().Txn) < 0 {
			return nil
		}
		b := h.find(0, func(x *event.Event) bool {
			return x.Kind == event.SendOK && x.Who().Txn != 0 && x.Who().Txn != a.Who().Txn && x.TP() == a.TP() && x.Offset > a.Offset && h.committed(x.Who().Txn) >= 0
		})
		if b < 0 || !h.ordered(&h.events[b], a) && !h.ordered(a, &h.events[b]) {
			return nil
		}
		// Elsewhere they lie in this order too; here it is turned round.
		return h.swapped(i, b)
	}},
	{name: "two transactions read before each other's writes", rule: "anti-dependency-cycle", says: noted, plant: func(h *clean, i int) []event.Event {
		a := &h.events[i]
		if a.Kind != event.SendInvoke || a.Who().Txn == 0 || h.committed(a.Who().Txn) < 0 {
			return nil
		}
		b := h.find(0, func(x *event.Event) bool {
			return x.Kind == event.SendInvoke && x.Who().Txn != 0 && x.Client != a.Client && x.TP() != a.TP() && h.committed(x.Who().Txn) > i && h.seenOK(x.Attempt) >= 0
		})
		if b < 0 || h.seenOK(a.Attempt) < 0 || h.committed(a.Who().Txn) < b {
			return nil
		}
		x, y := &h.events[h.seenOK(a.Attempt)], &h.events[h.seenOK(h.events[b].Attempt)]
		return inserted(h.copied(), max(i, b), h.seesEnd(y, a), h.seesEnd(x, &h.events[b]))
	}},
	{name: "a transaction is seen in one partition and not yet in another", rule: "fractured-visibility", says: noted, plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.PollOK || e.Isolation != event.ReadCommitted || e.Topic != "out" || e.Who().Txn != 0 || len(e.Records) == 0 {
			return nil
		}
		for _, rec := range e.Records {
			s := h.find(0, func(x *event.Event) bool { return x.Kind == event.SendInvoke && x.Attempt == rec.Attempt })
			sees := func(x *event.Event) bool {
				return x.Kind == event.PollOK && x.Client == e.Client && h.shows(x, h.events[s].Who().Txn)
			}
			later := h.find(i+1, func(x *event.Event) bool { return sees(x) && x.TP() != e.TP() && x.Topic == e.Topic })
			if later < 0 || h.find(0, sees) != i || h.find(i+1, sees) != later {
				continue
			}
			blind := h.events[later]
			blind.Records, blind.End, blind.Drained, blind.Attempt = nil, blind.Offset, false, 0
			blind.HighWatermark, blind.LastStable = blind.Offset, blind.Offset
			return inserted(h.copied(), i+1, blind)
		}
		return nil
	}},
	{name: "read on after an abort", rule: "app-skip", says: noted, plant: func(h *clean, i int) []event.Event {
		end := &h.events[i]
		if end.Kind != event.TxnEndOK || end.Text != "abort" || h.find(i, func(x *event.Event) bool { return x.Client == end.Client && x.Kind == event.ClientCrashed }) >= 0 {
			return nil
		}
		s := h.sentIn(end.Session.Txn)
		if s < 0 || s > i {
			return nil
		}
		k := h.find(0, func(x *event.Event) bool { return x.Kind == event.PollOK && x.Topic == "in" && len(x.Records) > 0 })
		within, after := h.events[k], h.events[k]
		within.Client, within.Session, within.Attempt = end.Client, end.Session, 0
		after.Client, after.Session, after.Attempt, after.Records, after.Offset = end.Client, nil, 0, nil, after.End
		return inserted(inserted(h.copied(), i+1, after), s, within)
	}},
}

// hygieneFaults are histories that nobody can have had: the verdict is unknown.
var hygieneFaults = []fault{
	{name: "the outcome of a send that nobody began", rule: "malformed", says: unknowable, plant: func(h *clean, i int) []event.Event {
		if h.events[i].Kind != event.SendInvoke {
			return nil
		}
		all := h.copied()
		return append(all[:i:i], all[i+1:]...)
	}},
	{name: "a poll of a partition that was not assigned", rule: "malformed", says: unknowable, plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; e.Kind != event.PollOK || e.Who().Group == "" {
			return nil
		}
		return h.with(func(e *event.Event) { e.Partition += 7 }, i)
	}},
	{name: "a commit below zero", rule: "malformed", says: unknowable, plant: func(h *clean, i int) []event.Event {
		if h.events[i].Kind != event.CommitInvoke {
			return nil
		}
		return h.with(func(e *event.Event) { e.Offset = -2 }, i)
	}},
	{name: "two sends share an attempt", rule: "ambiguous-attempt", says: unknowable, plant: func(h *clean, i int) []event.Event {
		if h.events[i].Kind != event.SendInvoke {
			return nil
		}
		return inserted(h.copied(), i+1, h.events[i])
	}},
}

// boundFaults are delays, in histories whose profile sets a bound.
var boundFaults = []fault{
	{name: "a reader lags", rule: "realtime-lag", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.PollInvoke {
			return nil
		}
		poll := h.find(i, func(x *event.Event) bool {
			return x.Kind == event.PollOK && x.Attempt == e.Attempt && x.Client == e.Client
		})
		if poll < 0 {
			return nil
		}
		p := &h.events[poll]
		acked := h.find(0, func(x *event.Event) bool { return x.Kind == event.SendOK && x.TP() == p.TP() && x.Offset >= p.End })
		if acked < 0 || acked > i {
			return nil
		}
		return h.delayed(i, boundLag)
	}},
	{name: "a send is not answered", rule: "stuck-client", plant: func(h *clean, i int) []event.Event {
		if !h.acked(i) {
			return nil
		}
		return h.delayed(i, boundStuck)
	}},
	{name: "a send long after the last fault is not answered", rule: "recovery", plant: func(h *clean, i int) []event.Event {
		fault := h.find(0, disturbs)
		if !h.acked(i) || fault < 0 || h.find(h.invoked(i), disturbs) >= 0 {
			return nil
		}
		return h.delayed(i, boundRecovery)
	}},
}

// delayed lets an hour pass before event i, in a history that bounds by a minute
// what a key says.
func (h *clean) delayed(i int, key string) []event.Event {
	all := h.copied()
	for k := i; k < len(all); k++ {
		all[k].At += int64(time.Hour)
	}
	all[len(all)-1].At += int64(time.Hour)
	bound := event.New(event.Profile)
	bound.Client, bound.Text = "cluster", key+"=60000"
	return slices.Insert(all, 0, bound)
}

// shows reports whether a poll shows anything of a transaction.
func (h *clean) shows(e *event.Event, txn uint64) bool {
	return txn != 0 && slices.ContainsFunc(e.Records, func(r event.Record) bool {
		s := h.find(0, func(x *event.Event) bool { return x.Kind == event.SendInvoke && x.Attempt == r.Attempt })
		return s >= 0 && h.events[s].Who().Txn == txn
	})
}

// seenOK is the acknowledgement of an attempt, -1 for none.
func (h *clean) seenOK(attempt uint64) int {
	return h.find(0, func(x *event.Event) bool { return x.Kind == event.SendOK && x.Attempt == attempt })
}

// seesEnd is a read, within the transaction of another event, up to right below
// where a record lies, which is the end as yet.
func (h *clean) seesEnd(record, by *event.Event) event.Event {
	poll := event.New(event.PollOK)
	poll.Client, poll.Topic, poll.Partition, poll.Session, poll.Isolation = by.Client, record.Topic, record.Partition, by.Session, event.ReadCommitted
	poll.Offset, poll.End, poll.HighWatermark, poll.LastStable, poll.Drained = record.Offset, record.Offset, record.Offset, record.Offset, true
	return poll
}

// ordered reports whether, in some other partition, the transaction of a wrote
// below that of b.
func (h *clean) ordered(a, b *event.Event) bool {
	return h.find(0, func(x *event.Event) bool {
		return x.Kind == event.SendOK && x.Who().Txn == a.Who().Txn && x.TP() != a.TP() && h.find(0, func(y *event.Event) bool {
			return y.Kind == event.SendOK && y.Who().Txn == b.Who().Txn && y.TP() == x.TP() && y.Offset > x.Offset
		}) >= 0
	}) >= 0
}

// swapped lets two acknowledged records of a partition change places.
func (h *clean) swapped(i, k int) []event.Event {
	a, b := &h.events[i], &h.events[k]
	all := h.with(func(e *event.Event) { e.Offset += a.Offset + b.Offset - 2*e.Offset }, i, k)
	for p := range all {
		if all[p].TP() != a.TP() {
			continue
		}
		if x, y := recordAt(&all[p], a.Offset), recordAt(&all[p], b.Offset); x >= 0 || y >= 0 {
			if x >= 0 {
				becomes(&all[p].Records[x], b)
			}
			if y >= 0 {
				becomes(&all[p].Records[y], a)
			}
		}
	}
	return all
}
