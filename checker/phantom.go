package checker

import (
	"fmt"

	"tidemark/model/event"
)

// phantom: every record that is read was sent. It holds only for a history that
// shows all producers; records without an attempt come from others and are a
// note, and so is everything in a history without a send.
type phantom struct{ tally }

func (*phantom) name() string { return "phantom" }

func (w *phantom) finish(f *facts, r *Report) {
	foreign := 0
	f.history.each(func(rd *reading, p *poll, rec event.Record) {
		if rec.Attempt == 0 || len(f.history.order) == 0 {
			foreign++
			return
		}
		w.checks++
		if f.history.sends[rec.Attempt] == nil {
			r.Findings = append(r.Findings, f.history.sighting(w.name(), rd, p, rec, "nobody sent it"))
		}
	})
	if foreign > 0 {
		r.Notes = append(r.Notes, Note{w.name(), 0, fmt.Sprintf("%s of producers that this history does not show", count(foreign, "record"))})
	}
}
