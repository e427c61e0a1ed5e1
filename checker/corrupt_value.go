package checker

import "fmt"

// corruptValue: a record is read with the key and the value that were sent.
type corruptValue struct{ tally }

func (*corruptValue) name() string { return "corrupt-value" }

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
			p, rec := &rd.polls[d.poll], rd.records[d.record]
			s := f.history.send(rec.Attempt)
			why := fmt.Sprintf("its value has the hash %016x, %s sent %016x (event %d)", rec.Hash, s.client, s.hash, s.invoked)
			if s.hash == rec.Hash {
				why = fmt.Sprintf("its key has the hash %016x, %s sent %016x (event %d)", rec.Key, s.client, s.key, s.invoked)
			}
			found := f.history.sighting(w.name(), rd, p, rec, why)
			found.Witness = []uint64{s.invoked, p.seq}
			r.settle(f, found, circumstances{client: p.client})
		}
	}
}
