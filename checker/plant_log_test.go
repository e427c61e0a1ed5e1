package checker

import (
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// logFaults are what a cluster may do to the records of a log.
var logFaults = []fault{
	{name: "drop an acknowledged record from every read", rule: "lost-write", plant: func(h *clean, i int) []event.Event {
		if !h.acked(i) {
			return nil
		}
		return h.without(h.events[i].Offset, h.polls(i))
	}},
	{name: "drop an acknowledged record from the last read", rule: "lost-write", plant: func(h *clean, i int) []event.Event {
		if !h.acked(i) {
			return nil
		}
		polls := h.polls(i)
		return h.without(h.events[i].Offset, polls[max(0, len(polls)-1):])
	}},
	{name: "swap the offsets of two acknowledgements", rule: "ack-offset-wrong", plant: func(h *clean, i int) []event.Event {
		k := h.next(i)
		if k < 0 || len(h.polls(i)) == 0 || len(h.polls(k)) == 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.Offset += h.events[i].Offset + h.events[k].Offset - 2*e.Offset }, i, k)
	}},
	{name: "reorder two sends of a session", rule: "producer-order", plant: func(h *clean, i int) []event.Event {
		k := h.next(i)
		if k < 0 || h.events[i].Client != h.events[k].Client {
			return nil
		}
		return h.swapped(i, k)
	}},
	{name: "acknowledge two records at one offset, which nobody reads", rule: "inconsistent-offsets", plant: func(h *clean, i int) []event.Event {
		k := h.next(i)
		if k < i || h.find(0, func(x *event.Event) bool {
			return x.Kind == event.PollOK && x.TP() == h.events[i].TP() && x.End > h.events[i].Offset
		}) < k {
			return nil
		}
		return h.upTo(k).with(func(e *event.Event) { e.Offset-- }, k)
	}},
	{name: "repeat a batch", rule: "duplicate", plant: func(h *clean, i int) []event.Event {
		if !h.atEnd(i) {
			return nil
		}
		again := h.events[i].Records[0]
		return h.with(func(e *event.Event) { addRecord(e, again) }, i)
	}},
	{name: "a record that nobody sent", rule: "phantom", plant: func(h *clean, i int) []event.Event {
		if !h.atEnd(i) {
			return nil
		}
		return h.with(func(e *event.Event) { addRecord(e, event.Record{Attempt: 1 << 50, Hash: 1}) }, i)
	}},
	{name: "leave an offset out", rule: "unexplained-gap", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if !h.acked(i) || e.Offset == 0 || len(h.polls(i)) == 0 || h.find(0, func(x *event.Event) bool {
			return x.Kind == event.LogStartMoved && x.TP() == e.TP() && x.Offset > e.Offset // nobody asks what lay below it
		}) >= 0 {
			return nil
		}
		return h.shifted(h.events[i].TP(), h.events[i].Offset)
	}},
	{name: "acknowledge at the wrong offset", rule: "ack-offset-wrong", plant: func(h *clean, i int) []event.Event {
		if !h.acked(i) || len(h.polls(i)) == 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.Offset++ }, i)
	}},
	{name: "change a value", rule: "corrupt-value", plant: func(h *clean, i int) []event.Event {
		if len(h.events[i].Records) == 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.Records[len(e.Records)/2].Hash ^= 1 << 40 }, i)
	}},
	{name: "change a key", rule: "corrupt-value", plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; len(e.Records) == 0 || e.Records[0].Key == 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.Records[0].Key ^= 1 << 40 }, i)
	}},
	{name: "change a header", rule: "corrupt-value", plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; len(e.Records) == 0 || e.Records[0].Headers == 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.Records[0].Headers ^= 1 << 40 }, i)
	}},
	{name: "lose the headers", rule: "corrupt-value", plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; len(e.Records) == 0 || e.Records[len(e.Records)-1].Headers == 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.Records[len(e.Records)-1].Headers = event.NoHeaders }, i)
	}},
	{name: "change a timestamp", rule: "corrupt-value", plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; len(e.Records) == 0 || e.Records[0].Timestamp == 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.Records[0].Timestamp++ }, i)
	}},
	{name: "fail a send that is visible", rule: "failed-write-visible", plant: func(h *clean, i int) []event.Event {
		if !h.acked(i) || len(h.polls(i)) == 0 {
			return nil
		}
		return h.with(func(e *event.Event) {
			e.Kind, e.Offset, e.Code = event.SendFail, kafka.NoOffset, kafka.NotEnoughReplicas
		}, i)
	}},
	{name: "read before sent", rule: "read-from-future", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		for _, rec := range e.Records {
			k := h.find(0, func(x *event.Event) bool { return x.Kind == event.SendInvoke && x.Attempt == rec.Attempt && h.plain(x) })
			if k < 0 || k > i {
				continue
			}
			all := movedTo(h.copied(), k, i+1)
			if done := h.find(k, func(x *event.Event) bool { return x.Kind == event.SendOK && x.Attempt == rec.Attempt }); done >= 0 && done < i {
				all = movedTo(all, done-1, i+1) // its invocation moved away from before it
			}
			return all
		}
		return nil
	}},
	{name: "two values at one offset", rule: "inconsistent-offsets", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if len(e.Records) < 2 || !h.plain(e) || e.Topic == "out" {
			return nil
		}
		return h.with(func(e *event.Event) {
			again := e.Records[0]
			again.Offset, again.Epoch = e.Records[1].Offset, e.Records[1].Epoch
			e.Records[1] = again
		}, i)
	}},
	{name: "leader epochs fall along a log", rule: "leader-epoch-regression", plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; len(e.Records) < 2 || e.Records[0].Epoch < 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.Records[0].Epoch = e.Records[1].Epoch + 1 }, i)
	}},
	{name: "acknowledge before another is sent that lies below", rule: "real-time-inversion", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if !h.acked(i) || len(h.polls(i)) == 0 {
			return nil
		}
		above := h.find(i, func(x *event.Event) bool {
			return x.Kind == event.SendOK && x.TP() == e.TP() && x.Offset == e.Offset+1
		})
		if above < 0 || h.polls(i)[0] < above {
			return nil
		}
		all := movedTo(h.copied(), i, above+1) // the lower one is answered, and sent, after the upper one
		return movedTo(all, h.invoked(i), above)
	}},
	{name: "leave a hole in a producer's sequence", rule: "idempotence-break", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		later := h.find(i, func(x *event.Event) bool {
			return x.Kind == event.SendInvoke && x.TP() == e.TP() && x.Client == e.Client
		})
		earlier := h.find(0, func(x *event.Event) bool {
			return x.Kind == event.SendOK && x.TP() == e.TP() && x.Client == e.Client && x.Offset < e.Offset
		})
		if !h.acked(i) || later < 0 || earlier < 0 || earlier > h.invoked(i) || e.Who().ProducerID < 0 || len(h.polls(i)) == 0 {
			return nil // a leader takes what a producer that it does not know sends first
		}
		sent := h.find(later, func(x *event.Event) bool { return x.Kind == event.SendOK && x.Attempt == h.events[later].Attempt })
		if sent < 0 || len(h.polls(sent)) == 0 {
			return nil
		}
		all := h.without(e.Offset, h.polls(i))
		all[i].Kind, all[i].Offset, all[i].Code = event.SendUnknown, kafka.NoOffset, kafka.RequestTimedOut
		return all
	}},
	{name: "lower the end offset", rule: "end-offset-regression", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.ListOffsetsOK || e.Text != "latest" {
			return nil
		}
		before := h.find(0, func(x *event.Event) bool {
			return x.Kind == e.Kind && x.Text == e.Text && x.TP() == e.TP() && x.Offset == e.Offset
		})
		if before < 0 || before >= i {
			return nil
		}
		return h.with(func(e *event.Event) { e.Offset-- }, i)
	}},
	{name: "tell an end below what was acknowledged", rule: "unseen", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.ListOffsetsOK || e.Text != "latest" {
			return nil
		}
		k := h.find(0, func(x *event.Event) bool {
			return x.Kind == event.SendOK && x.TP() == e.TP() && x.Offset == e.Offset-1
		})
		if k < 0 || k > h.invoked(i) {
			return nil
		}
		return h.with(func(e *event.Event) { e.Offset-- }, i)
	}},
	{name: "lower the log start as it is told", rule: "log-start-regression", plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; e.Kind != event.ListOffsetsOK || e.Text != "earliest" || e.Offset == 0 {
			return nil
		}
		return h.with(func(e *event.Event) { e.Offset-- }, i)
	}},
	{name: "move the log start back", rule: "log-start-regression", plant: func(h *clean, i int) []event.Event {
		e := h.events[i]
		if e.Kind != event.LogStartMoved || e.Offset == 0 {
			return nil
		}
		e.Offset--
		return inserted(h.copied(), i+1, e)
	}},
	{name: "read below the log start", rule: "log-start-regression", plant: func(h *clean, i int) []event.Event {
		e := h.events[i]
		if e.Kind != event.LogStartMoved || e.Offset == 0 {
			return nil
		}
		k := h.find(0, func(x *event.Event) bool { return x.TP() == e.TP() && recordAt(x, e.Offset-1) >= 0 })
		if k < 0 {
			return nil
		}
		reset, poll := event.New(event.PositionReset), event.New(event.PollOK)
		reset.Client, reset.Topic, reset.Partition, reset.End, reset.Text = "late", e.Topic, e.Partition, e.Offset-1, "assign"
		poll.Client, poll.Topic, poll.Partition, poll.Offset, poll.End = "late", e.Topic, e.Partition, e.Offset-1, e.Offset
		poll.Records = []event.Record{h.events[k].Records[recordAt(&h.events[k], e.Offset-1)]}
		return inserted(h.copied(), i+1, reset, poll)
	}},
	{name: "raise the log start for no reason", rule: "deletion-outside-policy", plant: func(h *clean, i int) []event.Event {
		if h.events[i].Kind != event.LogStartMoved {
			return nil
		}
		return h.with(func(e *event.Event) { e.Text = "bytes were missing" }, i)
	}},
}

// without takes an offset out of some polls; nil if there are none.
func (h *clean) without(o kafka.Offset, polls []int) []event.Event {
	if len(polls) == 0 {
		return nil
	}
	return h.with(func(e *event.Event) {
		e.Records = slices.DeleteFunc(e.Records, func(r event.Record) bool { return r.Offset == o })
	}, polls...)
}

// next is the acknowledgement of the record above that of event i; -1 for none
// or if either may go.
func (h *clean) next(i int) int {
	if !h.acked(i) {
		return -1
	}
	e := &h.events[i]
	return h.find(0, func(x *event.Event) bool {
		return x.Kind == event.SendOK && x.TP() == e.TP() && x.Offset == e.Offset+1
	})
}

// becomes puts what a send carried in a record's place.
func becomes(r *event.Record, sent *event.Event) {
	r.Attempt, r.Hash, r.Key, r.Headers, r.Timestamp = sent.Attempt, sent.Hash, sent.Key, sent.Headers, sent.Timestamp
}

// atEnd reports whether event i is a poll up to an end that nothing goes beyond.
func (h *clean) atEnd(i int) bool {
	e := &h.events[i]
	if e.Kind != event.PollOK || !e.Drained || len(e.Records) == 0 || !h.plain(e) {
		return false
	}
	return h.find(0, func(x *event.Event) bool {
		return x.TP() == e.TP() && (x.Kind == event.PollOK && x.End > e.End || x.Kind == event.SendOK && x.Offset >= e.End)
	}) < 0 && h.find(i+1, func(x *event.Event) bool { return x.Kind == event.PollOK && x.TP() == e.TP() }) < 0
}

// shifted moves everything from an offset on up by one.
func (h *clean) shifted(tp kafka.TopicPartition, from kafka.Offset) []event.Event {
	all := h.copied()
	up := func(o *kafka.Offset, from kafka.Offset) {
		if *o >= from {
			*o++
		}
	}
	for i := range all {
		e := &all[i]
		if e.TP() != tp {
			continue
		}
		switch e.Kind {
		case event.SendOK, event.AuditRecord:
			up(&e.Offset, from)
		default: // positions and ends
			up(&e.Offset, from+1)
		}
		up(&e.End, from+1)
		up(&e.HighWatermark, from+1)
		for k := range e.Records {
			up(&e.Records[k].Offset, from)
		}
	}
	return all
}

// addRecord puts a record at the end of a poll.
func addRecord(e *event.Event, rec event.Record) {
	rec.Offset, rec.Epoch = e.End, e.Records[len(e.Records)-1].Epoch
	e.Records = append(e.Records, rec)
	e.End++
	e.HighWatermark = e.End
}
