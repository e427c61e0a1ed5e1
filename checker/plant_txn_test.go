package checker

import (
	"slices"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// txnFaults are what may go wrong with transactions.
var txnFaults = []fault{
	{name: "let an aborted record through", rule: "aborted-read", plant: func(h *clean, i int) []event.Event {
		end := &h.events[i]
		if end.Kind != event.TxnEndOK || end.Text != "abort" {
			return nil
		}
		s := h.sentIn(end.Session.Txn)
		if s < 0 {
			return nil
		}
		rec := event.Record{Offset: h.events[s].Offset, Epoch: kafka.NoEpoch, Attempt: h.events[s].Attempt, Hash: h.events[s].Hash}
		k := h.find(s, h.committedReadOver(s))
		if k < 0 {
			return nil
		}
		return h.with(func(e *event.Event) { insertRecord(e, rec) }, k)
	}},
	{name: "hide one partition of a transaction", rule: "torn-transaction", plant: func(h *clean, i int) []event.Event {
		end := &h.events[i]
		if end.Kind != event.TxnEndOK || end.Text != "commit" {
			return nil
		}
		var hidden kafka.TopicPartition
		others := false
		attempts := map[uint64]bool{}
		for k := range h.events[:i] {
			if s := &h.events[k]; s.Kind == event.SendOK && s.Who().Txn == end.Session.Txn && h.find(k, h.committedReadOver(k)) >= 0 {
				if len(attempts) == 0 || hidden == s.TP() {
					hidden, attempts[s.Attempt] = s.TP(), true
				} else {
					others = true
				}
			}
		}
		if !others {
			return nil
		}
		all := h.copied()
		for k := range all {
			if all[k].TP() == hidden {
				all[k].Records = slices.DeleteFunc(all[k].Records, func(r event.Record) bool { return attempts[r.Attempt] })
			}
		}
		return all
	}},
	{name: "lose what a transaction sent to a partition, and every acknowledgement of it", rule: "torn-transaction", plant: func(h *clean, i int) []event.Event {
		end := &h.events[i]
		if end.Kind != event.TxnEndOK || end.Text != "commit" {
			return nil
		}
		s := h.sentIn(end.Session.Txn)
		if s < 0 {
			return nil
		}
		all, lost := h.copied(), map[uint64]bool{}
		for k := range all {
			if e := &all[k]; e.Kind == event.SendOK && e.Who().Txn == end.Session.Txn && e.TP() == h.events[s].TP() {
				e.Kind, e.Offset, e.Code, lost[e.Attempt] = event.SendUnknown, kafka.NoOffset, kafka.RequestTimedOut, true
			}
		}
		read := func(e *event.Event) bool { return e.Kind == event.PollOK && e.Isolation == event.ReadCommitted }
		hidden := false
		for k := range all {
			n := len(all[k].Records)
			all[k].Records = slices.DeleteFunc(all[k].Records, func(r event.Record) bool { return lost[r.Attempt] })
			hidden = hidden || len(all[k].Records) < n && read(&all[k])
		}
		// Its other records prove the commit; one sent later, that the reader came by.
		proof := h.find(0, func(x *event.Event) bool { return read(x) && x.TP() != h.events[s].TP() && h.shows(x, end.Session.Txn) })
		later := h.find(i, func(x *event.Event) bool {
			return x.Kind == event.SendOK && x.TP() == h.events[s].TP() && h.committed(x.Who().Txn) >= 0 && h.invoked(h.seenOK(x.Attempt)) > i &&
				h.find(i, func(y *event.Event) bool { return read(y) && shows(y, x.TP(), x.Offset, x.Attempt) }) >= 0
		})
		if !hidden || proof < 0 || later < 0 {
			return nil
		}
		return all
	}},
	{name: "end a transaction twice", rule: "two-outcomes", plant: func(h *clean, i int) []event.Event {
		if h.events[i].Kind != event.TxnEndOK {
			return nil
		}
		invoke := h.events[i]
		invoke.Attempt, invoke.Text = 1<<40, map[string]string{"commit": "abort", "abort": "commit"}[invoke.Text]
		ok := invoke
		invoke.Kind = event.TxnEndInvoke
		return inserted(h.copied(), i+1, invoke, ok)
	}},
	{name: "read a transaction before its commit is asked for", rule: "early-read", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.PollOK || e.Isolation != event.ReadCommitted || e.Topic != "out" {
			return nil
		}
		for _, rec := range e.Records {
			s := h.find(0, func(x *event.Event) bool { return x.Kind == event.SendInvoke && x.Attempt == rec.Attempt })
			end := h.find(0, func(x *event.Event) bool {
				return x.Kind == event.TxnEndInvoke && x.Who().Txn == h.events[s].Who().Txn
			})
			if end < 0 || h.find(end+1, func(x *event.Event) bool { return x.Client == h.events[s].Client && x.Kind != event.TxnEndOK }) < i {
				continue
			}
			all := movedTo(h.copied(), end, i+1)
			if ok := h.find(end, func(x *event.Event) bool { return x.Kind == event.TxnEndOK && x.Attempt == h.events[end].Attempt }); ok >= 0 && ok < i {
				all = movedTo(all, ok-1, i+1)
			}
			return all
		}
		return nil
	}},
	{name: "read past the last stable offset that the answer tells", rule: "lso-overrun", plant: func(h *clean, i int) []event.Event {
		if e := &h.events[i]; e.Kind != event.PollOK || e.Isolation != event.ReadCommitted || e.End != e.LastStable || e.End >= e.HighWatermark || e.End == e.Offset {
			return nil
		}
		return h.with(func(e *event.Event) { e.End = e.HighWatermark }, i)
	}},
	// Planted where it can be seen: the record at the last stable offset was
	// acknowledged, and nobody had asked to end its transaction. Elsewhere the very
	// same history is one of a sound cluster, so no observer can object:
	//   - Where the send there is not acknowledged yet, no client knows that its
	//     record has that offset. It may have been refused, or be on its way, and the
	//     offset be a marker or a record of an aborted transaction of somebody else.
	//   - Where the end was asked for, the coordinator may have written the marker
	//     before the poll was served; an abort would hide the record, which the poll
	//     did not show, and a commit whose record is missing is another fault.
	{name: "read past the last stable offset and tell none", rule: "lso-overrun", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.PollOK || e.Isolation != event.ReadCommitted || e.End != e.LastStable || e.End >= e.HighWatermark {
			return nil
		}
		open := h.find(0, func(x *event.Event) bool { return x.Kind == event.SendOK && x.TP() == e.TP() && x.Offset == e.End })
		if open < 0 || open > i || h.events[open].Who().Txn == 0 {
			return nil
		}
		end := h.find(open, func(x *event.Event) bool {
			return x.Kind == event.TxnEndInvoke && x.Session.Txn == h.events[open].Session.Txn || x.Kind == event.InitProducerInvoke && x.Who().TransactionalID == h.events[open].Session.TransactionalID
		})
		if end >= 0 && end < i {
			return nil
		}
		return h.upTo(i).with(func(e *event.Event) { e.End, e.LastStable = e.HighWatermark, kafka.NoOffset }, i)
	}},
	{name: "a transaction reads its own record", rule: "own-read", plant: func(h *clean, i int) []event.Event {
		end := &h.events[i]
		if end.Kind != event.TxnEndInvoke {
			return nil
		}
		s := h.sentIn(end.Session.Txn)
		if s < 0 || s > i {
			return nil
		}
		return inserted(h.copied(), i, h.seenBy(s, end))
	}},
	{name: "two transactions read each other's records", rule: "circular-flow", plant: func(h *clean, i int) []event.Event {
		end := &h.events[i]
		if end.Kind != event.TxnEndInvoke || h.committed(end.Session.Txn) < 0 {
			return nil
		}
		mine := h.sentIn(end.Session.Txn)
		other := h.find(0, func(x *event.Event) bool {
			return x.Kind == event.SendOK && x.Who().Txn != 0 && x.Client != end.Client && h.committed(x.Session.Txn) > i && x.Seq < end.Seq
		})
		if mine < 0 || mine > i || other < 0 {
			return nil
		}
		return inserted(h.copied(), i, h.seenBy(mine, &h.events[other]), h.seenBy(other, end))
	}},
	{name: "a zombie writes after InitProducerId gave its id away", rule: "zombie-write", plant: func(h *clean, i int) []event.Event {
		now := &h.events[i]
		if now.Kind != event.InitProducerOK {
			return nil
		}
		k := h.find(0, func(x *event.Event) bool {
			return x.Kind == event.TxnBegin && x.Session.TransactionalID == now.Session.TransactionalID && x.Session.ProducerEpoch < now.Session.ProducerEpoch
		})
		if k < 0 {
			return nil
		}
		invoke, ok := h.another(h.events[k].Client, h.events[k].Session, "")
		return inserted(h.copied(), i+1, invoke, ok)
	}},
	{name: "a zombie ends its transaction", rule: "transactional-id-register", plant: func(h *clean, i int) []event.Event {
		now := &h.events[i]
		if now.Kind != event.InitProducerOK {
			return nil
		}
		k := h.find(0, func(x *event.Event) bool {
			return x.Kind == event.TxnBegin && x.Session.TransactionalID == now.Session.TransactionalID && x.Session.ProducerEpoch < now.Session.ProducerEpoch
		})
		if k < 0 {
			return nil
		}
		ok := event.New(event.TxnEndOK)
		ok.Client, ok.Session, ok.Attempt, ok.Text = h.events[k].Client, h.events[k].Session, 1<<40, "commit"
		invoke := ok
		invoke.Kind = event.TxnEndInvoke
		return inserted(h.copied(), i+1, invoke, ok)
	}},
	{name: "give an epoch out twice", rule: "transactional-id-register", plant: func(h *clean, i int) []event.Event {
		now := &h.events[i]
		if now.Kind != event.InitProducerOK || now.Session.ProducerEpoch == 0 {
			return nil
		}
		k := h.find(0, func(x *event.Event) bool {
			return x.Kind == now.Kind && x.Session.TransactionalID == now.Session.TransactionalID && x.Session.ProducerEpoch == now.Session.ProducerEpoch-1 && x.Client != now.Client
		})
		if k < 0 {
			return nil
		}
		all := h.copied()
		for k := range all {
			if e := &all[k]; e.Client == now.Client && e.Session != nil && e.Session.ProducerEpoch == now.Session.ProducerEpoch {
				s := *e.Session
				s.ProducerEpoch--
				e.Session = &s
			}
		}
		return all
	}},
	{name: "a transaction hangs", rule: "hung-transaction", plant: func(h *clean, i int) []event.Event {
		e := &h.events[i]
		if e.Kind != event.PollOK || e.Isolation != event.ReadCommitted || e.LastStable >= e.HighWatermark || e.Topic != "out" {
			return nil
		}
		again := *e
		again.Offset, again.End, again.Records, again.Drained, again.Attempt = e.End, e.End, nil, false, 0
		all := append(h.upTo(i).copied(), again)
		all[i+1].Seq, all[i+1].At = e.Seq+1, e.At+10*60*1_000_000_000
		return all
	}},
}

// sentIn is an acknowledged send of a transaction, -1 for none.
func (h *clean) sentIn(txn uint64) int {
	return h.find(0, func(x *event.Event) bool { return x.Kind == event.SendOK && x.Who().Txn == txn })
}

// seenBy is a committed read of the record of event s, an acknowledgement, within
// the transaction of another event.
func (h *clean) seenBy(s int, by *event.Event) event.Event {
	sent, poll := &h.events[s], event.New(event.PollOK)
	poll.Client, poll.Topic, poll.Partition, poll.Session, poll.Isolation = by.Client, sent.Topic, sent.Partition, by.Session, event.ReadCommitted
	poll.Offset, poll.End = sent.Offset, sent.Offset+1
	poll.Records = []event.Record{{Offset: sent.Offset, Epoch: kafka.NoEpoch, Attempt: sent.Attempt, Hash: sent.Hash}}
	return poll
}

// committedReadOver: a poll of somebody else that reads committed and covers the
// record of event s.
func (h *clean) committedReadOver(s int) func(e *event.Event) bool {
	sent := &h.events[s]
	return func(e *event.Event) bool {
		return e.Kind == event.PollOK && e.Isolation == event.ReadCommitted && e.TP() == sent.TP() && e.Client != sent.Client && e.Offset <= sent.Offset && e.End > sent.Offset
	}
}

// another is one more send to "out" with its acknowledgement, above everything.
func (h *clean) another(client string, s *event.Session, source string) (invoke, ok event.Event) {
	ok = event.New(event.SendOK)
	ok.Client, ok.Topic, ok.Session, ok.Source, ok.Attempt, ok.Hash, ok.Acks = client, "out", s, source, 1<<40, 1<<40, -1
	invoke = ok
	invoke.Kind = event.SendInvoke
	for i := range h.events {
		if e := &h.events[i]; e.TP() == ok.TP() {
			ok.Offset = max(ok.Offset, e.End, e.HighWatermark, e.Offset+1)
		}
	}
	return invoke, ok
}

// insertRecord puts a record among those of a poll, in its place.
func insertRecord(e *event.Event, rec event.Record) {
	at := slices.IndexFunc(e.Records, func(r event.Record) bool { return r.Offset > rec.Offset })
	if at < 0 {
		at = len(e.Records)
	}
	e.Records = slices.Insert(e.Records, at, rec)
}
