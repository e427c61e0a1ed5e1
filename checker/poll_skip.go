package checker

import (
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// pollSkip: no poll passes over a record that is there and visible to it. Between
// two polls, a seek, a reset or a new assignment may; within one poll and
// within one transaction (intPollSkip) nothing may.
type pollSkip struct {
	tally
	within bool
	skips  []skip
}

// skip is a position that went up between two polls. What lies there is known
// when the run is over.
type skip struct {
	reader   *reading
	poll     int32
	position pollStep
}

func (p *pollSkip) name() string {
	if p.within {
		return "int-poll-skip"
	}
	return "poll-skip"
}

func (*pollSkip) kinds() []event.Kind { return []event.Kind{event.PollOK} }

func (p *pollSkip) observe(f *facts, e *event.Event, _ *Report) {
	s := &f.sessions.step
	if !s.known || s.within != p.within {
		return
	}
	p.checks++
	if e.Offset > s.was {
		rd := f.history.reading(e.TP())
		p.skips = append(p.skips, skip{rd, int32(rd.polls.len() - 1), *s})
	}
}

func (p *pollSkip) finish(f *facts, r *Report) {
	for i := range p.skips {
		s := &p.skips[i]
		by := s.reader.poll(s.poll)
		q := f.passedOver(s.reader, s.poll, s.position.was, by.from, true)
		if q == nil || r.full(p.name(), s.reader.tp) {
			continue
		}
		x := leapt(p.name(), s.reader.tp, by, &s.position)
		x.Witness = append(x.Witness, q.proof)
		r.settle(f, x.excuse(f.excuse(s.reader, q, by)), circumstances{client: by.client})
	}
	if !p.within {
		return
	}
	for _, rd := range f.history.sorted() {
		p.checks += rd.polls.len()
		for _, j := range rd.index(&f.history).jumps {
			if q := f.passedOver(rd, j.poll, j.from, j.to, false); q != nil && !r.full(p.name(), rd.tp) {
				by := rd.poll(j.poll)
				r.settle(f, p.inside(f, rd, j, q).excuse(f.excuse(rd, q, by)), circumstances{client: by.client})
			}
		}
	}
}

func (p *pollSkip) inside(f *facts, rd *reading, j jump, q *place) Finding {
	by := rd.poll(j.poll)
	return Finding{Rule: p.name(), Verdict: Violation, Seq: by.seq, At: by.at, TP: rd.tp, Offset: q.offset, Last: q.offset, Count: 1,
		Node: kafka.NoBroker, Epoch: q.epoch, Client: by.client, Attempt: q.attempt, Witness: []uint64{q.proof, by.seq},
		Text: fmt.Sprintf("%s: %s read from %d to %d (event %d) and was not given offset %d, where %s lies (event %d)",
			rd.tp, by.client, by.from, by.end, by.seq, q.offset, f.history.what(q.attempt), q.proof)}
}

// passedOver is a record in [from, to) that was visible to a poll, nil for none.
// Between two polls that counts too which was deleted meanwhile: a consumer is
// told that its position is out of range.
func (f *facts) passedOver(rd *reading, poll int32, from, to kafka.Offset, deleted bool) *place {
	x, by := rd.index(&f.history), rd.poll(poll)
	for i := x.find(from); i < len(x.places) && x.places[i].offset < to; i++ {
		q := &x.places[i]
		if q.data() && (f.visible(rd, q, by) || deleted && q.offset < rd.facts.startAt(&f.clocks, by.stamp()) && q.proof < by.seq) {
			return q
		}
	}
	return nil
}

// visible reports whether a poll that passes over a record must be given it.
func (f *facts) visible(rd *reading, q *place, by *poll) bool {
	if q.send != nil && (q.future() && f.clocks.before(rd.provenAt(q), q.send.called()) || f.undecided(q.send)) {
		return false
	}
	if q.send == nil && by.isolation == event.ReadCommitted && rd.poll(q.first).isolation != event.ReadCommitted {
		return false // it may be of a transaction that was aborted
	}
	return !f.tookOut(rd, q, by)
}

// excuse is the premise that was broken between the send of a record and a
// poll that was not given it, "" for none.
func (f *facts) excuse(rd *reading, q *place, by *poll) string {
	if p := f.partition(rd.tp); p != nil {
		return p.excuseBetween(q.offset, q.begunBefore(by), by.seq)
	}
	return ""
}

// begunBefore is the first event at which the record may have been in a log, or
// the log that a poll read may have been cut: a record that was proven only after
// the poll is compared with a log of before.
func (p *place) begunBefore(by *poll) uint64 {
	if p.begun() > by.seq {
		return 0
	}
	return p.begun()
}
