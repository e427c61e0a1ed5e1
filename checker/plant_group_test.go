package checker

import (
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// groupFaults are what may go wrong with groups and their offsets.
var groupFaults = []fault{
	{name: "move a committed offset back", rule: "committed-offset-register", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.FetchCommittedOK || e.Offset <= 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.Offset = h.committedBelow(e) }, i)
	}},
	{name: "fetch an offset that nobody committed", rule: "committed-offset-register", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		first := h.find(0, func(x *event.Event) bool {
			return (x.Kind == event.FetchCommittedOK || x.Kind == event.CommitOK && x.Who().Txn == 0) && x.TP() == e.TP()
		})
		if e.Kind != event.FetchCommittedOK || first > h.invoked(i) { // the first may find what was committed before the history
			return nil
		}
		return h.with(func(e *event.Event) { e.Offset = 5000 }, i)
	}},
	{name: "drop the offsets of a committed transaction", rule: "offset-tear", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.FetchCommittedOK || e.Offset <= 0 {
			return nil
		}
		k := h.find(0, func(x *event.Event) bool {
			return x.Kind == event.CommitOK && x.Who().Txn != 0 && x.TP() == e.TP() && x.Offset == e.Offset && h.committed(x.Session.Txn) >= 0
		})
		if k < 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.Offset = h.committedBelow(e) }, i)
	}},
	{name: "let the offsets of an aborted transaction count", rule: "offset-tear", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.FetchCommittedOK {
			return nil
		}
		k := h.find(0, func(x *event.Event) bool {
			return x.Kind == event.CommitOK && x.TP() == e.TP() && x.Offset > e.Offset && x.Who().Txn != 0 && h.aborted(x.Session.Txn) && h.commits(x.TP(), x.Offset) == 1
		})
		if k < 0 || k > i {
			return nil
		}
		return h.with(func(e *event.Event) { e.Offset = h.events[k].Offset }, i)
	}},
	{name: "commit beyond the position", rule: "commit-beyond-position", plant: func(h *clean, i int) []event.Event {
		if h.events[i].Kind != event.CommitOK || !h.goesOn(h.invoked(i)) {
			return nil
		}
		return h.with(func(e *event.Event) { e.Offset += 1000 }, i, h.invoked(i))
	}},
	{name: "an automatic commit is too new", rule: "early-auto-commit", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.CommitOK || e.Text != "auto" {
			return nil
		}
		polled := -1 // the latest poll, if it gave anything
		for k := range i {
			if x := &h.events[k]; x.Kind == event.PollOK && x.Client == e.Client {
				polled = k
			}
		}
		if next := h.find(i, func(x *event.Event) bool { return x.Kind == event.PollOK && x.Client == e.Client }); next < 0 || len(h.events[polled].Records) == 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.Offset = h.events[polled].End }, i, h.invoked(i))
	}},
	{name: "take a commit of an older generation", rule: "fenced-commit", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.CommitOK || e.Who().Txn != 0 {
			return nil
		}
		newer := h.find(i, func(x *event.Event) bool {
			return x.Kind == event.Assigned && x.Who().Group == e.Session.Group && x.Session.Generation > e.Session.Generation
		})
		if newer < 0 {
			return nil
		}
		ok := *e
		ok.Attempt = 1 << 40
		invoke := ok
		invoke.Kind = event.CommitInvoke
		return inserted(h.copied(), newer+1, invoke, ok)
	}},
	{name: "overlap two owners", rule: "dual-ownership", plant: func(h *clean, i int) []event.Event {
		e := h.events[i]
		if e.Kind != event.Revoked {
			return nil
		}
		e.Kind, e.Client = event.Assigned, "usurper"
		s := *e.Session
		s.Member = "usurper"
		e.Session = &s
		return inserted(h.copied(), i, e)
	}},
	{name: "two committed outputs for one input", rule: "double-processing", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.SendOK || e.Source == "" || h.committed(e.Session.Txn) < 0 || !h.consumes(e.Session.Txn) {
			return nil
		}
		other := h.find(h.committed(e.Session.Txn), func(x *event.Event) bool {
			return x.Kind == event.TxnEndInvoke && x.Session.Txn != e.Session.Txn && h.committed(x.Session.Txn) >= 0 && h.consumes(x.Session.Txn)
		})
		if other < 0 {
			return nil
		}
		invoke, ok := h.another(h.events[other].Client, h.events[other].Session, e.Source)
		return inserted(h.copied(), other, invoke, ok)
	}},
	{name: "skip in a group", rule: "group-skip", least: 50, why: "the record counts as skipped only once the group commits past it and nobody was given it before",
		plant: func(h *clean, i int) []event.Event {
			e := &h.events[i]
			if e.Kind != event.PositionReset || e.Text != "assign" || e.Who().Group == "" {
				return nil
			}
			k := h.find(i, func(x *event.Event) bool { return x.Kind == event.PollOK && x.Client == e.Client && x.TP() == e.TP() })
			if k < 0 || recordAt(&h.events[k], e.End) < 0 || h.events[k].Offset != e.End {
				return nil
			}
			given := h.find(0, func(x *event.Event) bool {
				return x.Client != e.Client && x.Who().Group != "" && x.TP() == e.TP() && recordAt(x, e.End) >= 0
			})
			past := h.find(k, func(x *event.Event) bool {
				return x.Kind == event.CommitOK && x.TP() == e.TP() && x.Offset > e.End && (x.Who().Txn == 0 || h.committed(x.Session.Txn) >= 0)
			})
			before := h.find(0, func(x *event.Event) bool {
				return x.Kind == event.CommitOK && x.Who().Txn == 0 && x.TP() == e.TP()
			})
			if given >= 0 || past < 0 || before < 0 || before > i { // before the first commit, auto.offset.reset decides
				return nil
			}
			all := h.with(func(e *event.Event) { e.End++ }, i)
			all[k].Offset++
			all[k].Records = all[k].Records[1:]
			return all
		}},
}

// committedBelow is the newest offset that was committed before a fetch and lies
// below what it found; -1 for none.
func (h *clean) committedBelow(fetch *event.Event) kafka.Offset {
	below := kafka.NoOffset
	for i := range h.events {
		e := &h.events[i]
		if e.Seq < fetch.Seq && e.Kind == event.CommitOK && e.TP() == fetch.TP() && e.Who().Group == fetch.Who().Group && e.Offset < fetch.Offset {
			below = max(below, e.Offset)
		}
	}
	return below
}

// committed is the event that answers the commit of a transaction, -1 for none.
func (h *clean) committed(txn uint64) int {
	return h.find(0, func(e *event.Event) bool {
		return e.Kind == event.TxnEndOK && e.Text == "commit" && e.Session.Txn == txn
	})
}

func (h *clean) aborted(txn uint64) bool {
	return h.find(0, func(e *event.Event) bool {
		return e.Kind == event.TxnEndOK && e.Text == "abort" && e.Session.Txn == txn
	}) >= 0
}

// consumes reports whether a transaction commits offsets.
func (h *clean) consumes(txn uint64) bool {
	return h.find(0, func(e *event.Event) bool { return e.Kind == event.CommitOK && e.Who().Txn == txn }) >= 0
}

// commits counts the commits of an offset, whatever became of them.
func (h *clean) commits(tp kafka.TopicPartition, o kafka.Offset) (n int) {
	for i := range h.events {
		if e := &h.events[i]; e.Kind == event.CommitInvoke && e.TP() == tp && e.Offset == o {
			n++
		}
	}
	return n
}
