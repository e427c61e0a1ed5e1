package checker

import (
	"slices"

	"tidemark/model/event"
)

// readerFaults are what may go wrong between a log and its readers.
var readerFaults = []fault{
	{name: "read past the high watermark", rule: "read-beyond-watermark", plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; len(e.Records) == 0 || e.HighWatermark < 0 || !h.inside() {
			return nil
		}
		return h.with(func(e *event.Event) { e.HighWatermark = e.Records[len(e.Records)-1].Offset }, i)
	}},
	{name: "jump a position", rule: "poll-skip", plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; len(e.Records) == 0 || e.Records[0].Offset != e.Offset || !h.goesOn(i) || !h.stays(e.Records[0].Attempt) {
			return nil
		}
		return h.with(func(e *event.Event) { e.Offset, e.Records = e.Offset+1, e.Records[1:] }, i)
	}},
	{name: "go back", rule: "nonmonotonic-poll", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.PollOK || e.Offset == 0 || !h.goesOn(i) {
			return nil
		}
		k := h.find(0, func(x *event.Event) bool {
			return x.TP() == e.TP() && x.Client == e.Client && recordAt(x, e.Offset-1) >= 0
		})
		if k < 0 || k >= i {
			return nil
		}
		again := h.events[k].Records[recordAt(&h.events[k], e.Offset-1)]
		return h.with(func(e *event.Event) { e.Offset, e.Records = e.Offset-1, slices.Insert(e.Records, 0, again) }, i)
	}},
	{name: "skip a record within a poll", rule: "int-poll-skip", plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; len(e.Records) < 3 || !h.plain(e) {
			return nil
		}
		return h.with(func(e *event.Event) { e.Records = slices.Delete(e.Records, 1, 2) }, i)
	}},
	{name: "go back within a poll", rule: "int-nonmonotonic-poll", plant: func(h *clean, i int) []event.Event {
		if len(h.events[i].Records) < 2 {
			return nil
		}
		return h.with(func(e *event.Event) { e.Records[0], e.Records[1] = e.Records[1], e.Records[0] }, i)
	}},
	{name: "reset a position that is there as out of range", rule: "illegal-reset", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.PollOK || !h.goesOn(i) || len(e.Records) == 0 || e.Records[0].Offset != e.Offset || !h.plain(e) {
			return nil
		}
		known := h.find(0, func(x *event.Event) bool { return x.Kind == event.SendOK && x.TP() == e.TP() && x.Offset == e.Offset })
		if known < 0 || known > i {
			return nil
		}
		reset := event.New(event.PositionReset)
		reset.Client, reset.Topic, reset.Partition, reset.Offset, reset.End, reset.Text = e.Client, e.Topic, e.Partition, e.Offset, e.Offset, "out-of-range"
		return inserted(h.copied(), i, reset)
	}},
}

// stays reports whether a record is there for every reader: it is of no
// transaction, or of one that is known to be committed, and no cleaner comes by.
func (h *clean) stays(attempt uint64) bool {
	s := h.find(0, func(x *event.Event) bool { return x.Kind == event.SendInvoke && x.Attempt == attempt })
	e := &h.events[s]
	return h.plain(e) || e.Topic == "out" && h.committed(e.Session.Txn) >= 0
}

// goesOn reports whether poll i begins at a position that is known: its client
// polled or was told it before, and nothing took it since.
func (h *clean) goesOn(i int) bool {
	e := &h.events[i]
	for k := i - 1; k >= 0; k-- {
		x := &h.events[k]
		switch {
		case x.Client != e.Client:
		case x.Kind == event.ClientCrashed:
			return false
		case x.TP() != e.TP():
		case x.Kind == event.Assigned, x.Kind == event.Revoked, x.Kind == event.Lost, x.Kind == event.TruncationDetected:
			return false
		case x.Kind == event.PollOK, x.Kind == event.PositionReset:
			return true
		}
	}
	return false
}
