package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// corruptValue: a record is read as it was sent: its value and key and, where
// the history tells them of both sides, its headers and its timestamp. The leader
// sets the timestamps of topics with message.timestamp.type=LogAppendTime, so there
// nothing was promised of them.
type corruptValue struct {
	tally
	wrapped []wrapped
}

// wrapped is a record whose headers or timestamp were not those that were sent,
// or were read before its send or the answer to it tells them.
type wrapped struct {
	tp   kafka.TopicPartition
	poll poll // its client, event and time
	rec  event.Record
}

func (*corruptValue) name() string { return "corrupt-value" }

func (*corruptValue) kinds() []event.Kind { return []event.Kind{event.PollOK} }

// observe looks at headers and timestamps while they are at hand: no other rule
// asks for them, so the index does not keep them.
func (w *corruptValue) observe(f *facts, e *event.Event, _ *Report) {
	for i := range e.Records {
		rec := &e.Records[i]
		if rec.Headers == 0 && rec.Timestamp == 0 || rec.Control != event.DataRecord {
			continue
		}
		s := f.history.send(rec.Attempt)
		if s == nil && (rec.Attempt == 0 || !f.clocks.err()) {
			continue
		}
		untold := s == nil || s.done == 0 && (s.headers == 0 && rec.Headers != 0 || s.timestamp == 0 && rec.Timestamp != 0)
		if !untold && w.differs(f, s, rec) == "" {
			continue
		}
		w.wrapped = append(w.wrapped, wrapped{e.TP(), poll{client: e.Client, seq: e.Seq, at: e.At}, *rec})
	}
}

// differs says what of a record's headers and timestamp is not as it was sent, ""
// for nothing.
func (*corruptValue) differs(f *facts, s *send, rec *event.Record) string {
	switch {
	case s.headers != 0 && rec.Headers != 0 && s.headers != rec.Headers:
		return fmt.Sprintf("its headers have the hash %016x, %s sent %016x (event %d)", rec.Headers, s.client, s.headers, s.invoked)
	case s.timestamp != 0 && rec.Timestamp != 0 && s.timestamp != rec.Timestamp && f.profile.topic(s.tp.Topic, kafka.MessageTimestampType) != "LogAppendTime":
		return fmt.Sprintf("its timestamp is %d, %s sent %d (event %d)", rec.Timestamp, s.client, s.timestamp, s.invoked)
	}
	return ""
}

func (w *corruptValue) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		x := rd.index(&f.history)
		for i := range x.places {
			if p := &x.places[i]; p.send != nil && p.first >= 0 {
				w.checks++
			}
		}
		for _, d := range x.damaged {
			if r.full(w.name(), rd.tp) {
				continue
			}
			p, rec := rd.poll(d.poll), rd.record(d.record)
			s := f.history.send(rec.Attempt)
			why := fmt.Sprintf("its value has the hash %016x, %s sent %016x (event %d)", rec.Hash, s.client, s.hash, s.invoked)
			if s.hash == rec.Hash {
				why = fmt.Sprintf("its key has the hash %016x, %s sent %016x (event %d)", rec.Key, s.client, s.key, s.invoked)
			}
			w.found(f, r, rd, p, rec, why)
		}
	}
	for i := range w.wrapped {
		x := &w.wrapped[i]
		s := f.history.send(x.rec.Attempt)
		if s == nil {
			continue // the history does not show it
		}
		if why := w.differs(f, s, &x.rec); why != "" && !r.full(w.name(), x.tp) {
			w.found(f, r, f.history.reading(x.tp), &x.poll, x.rec, why)
		}
	}
}

func (w *corruptValue) found(f *facts, r *Report, rd *reading, p *poll, rec event.Record, why string) {
	found := f.history.sighting(w.name(), rd, p, rec, why)
	found.Witness = []uint64{f.history.send(rec.Attempt).invoked, p.seq}
	r.settle(f, found, circumstances{client: p.client})
}
