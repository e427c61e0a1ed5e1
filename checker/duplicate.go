package checker

import (
	"cmp"
	"fmt"

	"tidemark/model/event"
	"tidemark/model/kafka"
)

// duplicate: a send lies at one offset. An idempotent producer is promised it
// (KIP-98); without idempotence a retry may write twice, which is a note.
type duplicate struct {
	tally
	memory producerMemory
}

// mostRepeats is how many repeated records of a partition are looked at one by
// one; what their leaders knew is found out for each.
const mostRepeats = 1024

func (*duplicate) name() string { return "duplicate" }

func (*duplicate) kinds() []event.Kind {
	return []event.Kind{event.Recovered, event.Truncated, event.Appended}
}

func (w *duplicate) observe(_ *facts, e *event.Event, _ *Report) { w.memory.observe(e) }

func (w *duplicate) finish(f *facts, r *Report) {
	for _, rd := range f.history.sorted() {
		w.partition(f, rd, r)
	}
}

func (w *duplicate) partition(f *facts, rd *reading, r *Report) {
	x := rd.index(&f.history)
	for i := range x.places {
		if p := &x.places[i]; p.send != nil && p.first >= 0 {
			w.checks++
		}
	}
	if len(x.repeated) == 0 {
		return
	}
	first := x.firstSeen()
	told := map[*send]bool{}
	var repeats []repeat
	var again []*place
	for i := range x.places {
		p := &x.places[i]
		if p.send == nil || p.first < 0 || told[p.send] || first[p.send] == nil || first[p.send] == p {
			continue
		}
		told[p.send] = true
		if len(again) == mostRepeats {
			r.found(w.name(), rd.tp).Left++
			continue
		}
		again = append(again, p)
		repeats = append(repeats, repeat{p.send.client, first[p.send].offset, p.offset})
	}
	premises := w.memory.premises(&f.history, rd, repeats)
	for i, p := range again {
		if !r.full(w.name(), rd.tp) {
			found := w.twice(f, rd, first[p.send], p)
			r.settle(f, found.excuse(cmp.Or(premises[i], f.lostCopy(rd.tp, first[p.send], p, found.Seq))), circumstances{client: p.send.client, session: p.send.session})
		}
	}
}

// lostCopy is the premise that was broken when a leader started without the lower of
// two copies, before both had been seen; "" if none did: what is written again then
// was there no more. A leader that has the lower one writes none above it, whatever
// else it lacks. Where no replica was watched, the epochs of the copies say whether an
// unclean election lies between them.
func (f *facts) lostCopy(tp kafka.TopicPartition, low, high *place, seen uint64) string {
	p := f.partition(tp)
	if p == nil {
		return ""
	}
	if p.leader == nil && low.epoch != kafka.NoEpoch && high.epoch != kafka.NoEpoch {
		if l := p.uncleanSince(min(low.epoch, high.epoch), max(low.epoch, high.epoch)); l != nil {
			return uncleanPremise(l)
		}
		return ""
	}
	return p.excuseBetween(low.offset, 0, seen)
}

// firstSeen is the lowest place of each send that has several.
func (x *logIndex) firstSeen() map[*send]*place {
	first := map[*send]*place{}
	for _, s := range x.repeated {
		for i := x.find(s.seen); first[s] == nil; i++ {
			if p := &x.places[i]; p.send == s && p.first >= 0 {
				first[s] = p
			}
		}
	}
	return first
}

func (*duplicate) twice(f *facts, rd *reading, a, b *place) Finding {
	if rd.poll(b.first).seq < rd.poll(a.first).seq {
		a, b = b, a
	}
	found := f.history.sighting("duplicate", rd, rd.poll(b.first), rd.record(b.record),
		fmt.Sprintf("%s lies at offset %d too", b.send.what(), a.offset))
	found.Witness = []uint64{rd.poll(a.first).seq, rd.poll(b.first).seq}
	return found
}
