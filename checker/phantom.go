package checker

import "fmt"

// phantom: every record that is read was sent, and sent there. A history that
// does not show all producers cannot tell.
type phantom struct{ tally }

func (*phantom) name() string { return "phantom" }

func (w *phantom) finish(f *facts, r *Report) {
	foreign := 0
	for _, rd := range f.history.sorted() {
		x := rd.index(&f.history)
		for i := range x.places {
			p := &x.places[i]
			if !p.data() || p.first < 0 {
				continue
			}
			if p.attempt == 0 || f.history.sends.len() == 0 {
				foreign++
				continue
			}
			w.checks++
			if why := w.why(rd, p); why != "" && !r.full(w.name(), rd.tp) {
				found := f.history.sighting(w.name(), rd, rd.poll(p.first), rd.record(p.record), why)
				r.settle(f, found, circumstances{client: found.Client})
			}
		}
	}
	if foreign > 0 {
		r.Notes = append(r.Notes, Note{w.name(), 0, fmt.Sprintf("%s of producers that this history does not show", count(foreign, "record"))})
	}
}

// why says what is wrong with a record that was read, "" for nothing.
func (*phantom) why(rd *reading, p *place) string {
	switch s := p.send; {
	case s == nil:
		return "nobody sent it"
	case p.astray:
		return fmt.Sprintf("%s sent it to %s (event %d)", s.client, s.tp, s.invoked)
	}
	return ""
}
