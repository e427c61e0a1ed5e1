package checker

import (
	"slices"

	"tidemark/model/event"
)

// compactionFaults are what the cleaner may do wrong, as readers see it.
var compactionFaults = []fault{
	{name: "resurrect a key", rule: "tombstone-early", plant: func(h *clean, i int) []event.Event {
		return h.resurrected(i, true)
	}},
	{name: "lose the newest record of a key and keep an older one", rule: "newest-lost", plant: func(h *clean, i int) []event.Event {
		return h.resurrected(i, false)
	}},
	{name: "take a tombstone out too early", rule: "tombstone-early", plant: func(h *clean, i int) []event.Event {
		k := h.lastOfKey(i, true)
		if k < 0 {
			return nil
		}
		return h.upTo(i).with(func(e *event.Event) { e.Records = slices.Delete(e.Records, k, k+1) }, i)
	}},
	{name: "lose a key", rule: "kv-view", plant: func(h *clean, i int) []event.Event {
		k := h.lastOfKey(i, false)
		if k < 0 {
			return nil
		}
		return h.upTo(i).with(func(e *event.Event) { e.Records = slices.Delete(e.Records, k, k+1) }, i)
	}},
	{name: "rewrite a survivor", rule: "rewritten", plant: func(h *clean, i int) []event.Event {
		k := h.survivor(i)
		if k < 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.Records[k].Hash ^= 1 << 40 }, i)
	}},
	{name: "move a survivor to another offset", rule: "rewritten", plant: func(h *clean, i int) []event.Event {
		k := h.survivor(i)
		if k < 0 {
			return nil
		}
		return h.upTo(i).with(func(e *event.Event) { e.Records[k].Offset-- }, i)
	}},
	{name: "clean what is younger than the lag", rule: "active-head-touched", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.PollOK || e.Topic != "kv" {
			return nil
		}
		for k, rec := range e.Records {
			if acked := h.find(0, func(x *event.Event) bool { return x.Kind == event.SendOK && x.Attempt == rec.Attempt }); acked < 0 || acked > i {
				continue // else nothing proves it
			}
			sent := h.find(0, func(x *event.Event) bool { return x.Kind == event.SendInvoke && x.Attempt == rec.Attempt })
			if e.At-h.events[sent].At < compactionLag*1_000_000 {
				return h.upTo(i).with(func(e *event.Event) { e.Records = slices.Delete(e.Records, k, k+1) }, i)
			}
		}
		return nil
	}},
}

// upTo is the history up to event i, which then is the last one.
func (h *clean) upTo(i int) *clean { return newClean(h.name, h.events[:i+1]) }

// lastOfKey is the place, in a poll to the end of a compacted log, of a record
// that is the last of its key and was known before; -1 for none.
func (h *clean) lastOfKey(i int, tombstone bool) int {
	e := &h.events[i]
	if e.Kind != event.PollOK || e.Topic != "kv" || !e.Drained {
		return -1
	}
	return slices.IndexFunc(e.Records, func(r event.Record) bool {
		newer := slices.ContainsFunc(e.Records, func(o event.Record) bool { return o.Key == r.Key && o.Offset > r.Offset })
		acked := h.find(0, func(x *event.Event) bool { return x.Kind == event.SendOK && x.Attempt == r.Attempt })
		return !newer && (r.Hash == 0) == tombstone && acked >= 0 && acked < i
	})
}

// resurrected ends the history with poll i, in which the last record of a key is
// gone and an older one is back.
func (h *clean) resurrected(i int, tombstone bool) []event.Event {
	k := h.lastOfKey(i, tombstone)
	if k < 0 {
		return nil
	}
	last := h.events[i].Records[k]
	old := event.Record{Offset: -1}
	for _, x := range h.events[:i] {
		for _, r := range x.Records {
			if x.Topic == "kv" && r.Key == last.Key && r.Offset < last.Offset && r.Offset > old.Offset && r.Hash != 0 {
				old = r
			}
		}
	}
	all := h.upTo(i).with(func(e *event.Event) { e.Records = slices.Delete(e.Records, k, k+1) }, i)
	for p := i; p >= 0 && old.Offset >= 0; p-- {
		e := &all[p]
		if e.Kind != event.PollOK || e.TP() != all[i].TP() || e.Client != all[i].Client || old.Offset < e.Offset || old.Offset >= e.End {
			continue
		}
		if recordAt(e, old.Offset) < 0 {
			insertRecord(e, old)
		}
		return all
	}
	return nil
}

// survivor is the place in poll i of a record that was read before the cleaner
// passed over it and is read again; -1 for none.
func (h *clean) survivor(i int) int {
	e := &h.events[i]
	if e.Kind != event.PollOK || e.Topic != "kv" {
		return -1
	}
	return slices.IndexFunc(e.Records, func(r event.Record) bool {
		before := h.find(0, func(x *event.Event) bool { return shows(x, e.TP(), r.Offset, r.Attempt) })
		passed := h.find(before, func(x *event.Event) bool { return x.Kind == event.Cleaned && x.End > r.Offset })
		prev := recordAt(e, r.Offset-1)
		return passed > before && passed < i && r.Hash != 0 && prev < 0 && r.Offset > e.Offset
	})
}
