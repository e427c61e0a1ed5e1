package checker

import (
	"fmt"
)

// rewritten: what the cleaner leaves keeps its offset and its value.
type rewritten struct{ tally }

func (*rewritten) name() string { return "rewritten" }

func (w *rewritten) finish(f *facts, r *Report) {
	for _, rd := range f.cleaned() {
		x := rd.index(&f.history)
		w.checks += len(rd.facts.cleanings)
		first := x.firstSeen()
		for i := range x.places {
			if p := &x.places[i]; p.send != nil && p.first >= 0 && first[p.send] != nil && first[p.send] != p {
				w.apart(f, r, rd, first[p.send], p)
			}
		}
		for _, d := range x.damaged {
			w.damaged(f, r, rd, d)
		}
	}
}

// apart judges two places of one send: was it moved from one to the other? A
// second copy that was appended is for duplicate: the cleaner puts nothing above
// where it was, nor where it has not been.
func (w *rewritten) apart(f *facts, r *Report, rd *reading, a, b *place) {
	if rd.poll(b.first).seq < rd.poll(a.first).seq {
		a, b = b, a
	}
	for _, c := range rd.facts.cleanings {
		before, after := rd.poll(a.last), rd.poll(b.first)
		if before.seq < c.seq && c.seq < after.seq && a.cover > a.last && b.offset < a.offset && a.offset < c.end && !r.full(w.name(), rd.tp) {
			x := f.history.sighting(w.name(), rd, after, rd.record(b.record), fmt.Sprintf("it lay at offset %d (event %d) before the cleaner passed (event %d)", a.offset, before.seq, c.seq))
			x.Witness = []uint64{before.seq, c.seq, after.seq}
			r.settle(f, x, circumstances{client: x.Client}, [2]stamp{before.stamp(), c.stamp}, [2]stamp{c.stamp, after.stamp()})
			return
		}
	}
}

// damaged judges a record that differs from what was sent: had it been whole
// before the cleaner passed?
func (w *rewritten) damaged(f *facts, r *Report, rd *reading, d sight) {
	by, rec := rd.poll(d.poll), rd.record(d.record)
	for i := rd.log.find(rec.Offset); i < len(rd.log.places) && rd.log.places[i].offset == rec.Offset; i++ {
		p := &rd.log.places[i]
		if p.first < 0 || p.attempt != rec.Attempt || p.first >= d.poll {
			continue
		}
		for _, c := range rd.facts.cleanings {
			if before := rd.poll(p.first); before.seq < c.seq && c.seq < by.seq && p.offset < c.end && !r.full(w.name(), rd.tp) {
				x := f.history.sighting(w.name(), rd, by, rec, fmt.Sprintf("it had another value (event %d) before the cleaner passed (event %d)", before.seq, c.seq))
				x.Witness = []uint64{before.seq, c.seq, by.seq}
				r.settle(f, x, circumstances{client: x.Client}, [2]stamp{before.stamp(), c.stamp}, [2]stamp{c.stamp, by.stamp()})
				return
			}
		}
	}
}
