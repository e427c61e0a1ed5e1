package reports

import (
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"tidemark/checker"
)

// marks are the cuts, in order, then all else that has a label. What lost or
// sealed the loss of acknowledged records says so.
func (p *panel) marks() []mark {
	marks := slices.Clone(p.r.marks)
	for _, s := range p.r.leads {
		marks = append(marks, mark{at: s.from, glyph: glyphElection, text: "leads e" + num(int64(s.epoch))})
	}
	marks = append(append(marks, p.r.idle...), p.r.cleaned...)
	for _, s := range p.r.starts {
		marks = append(marks, mark{at: s.from, glyph: glyphFault, text: s.text})
	}
	for _, s := range p.r.down {
		if p.room(s) == noRoom {
			marks = append(marks, mark{at: s.from, glyph: glyphFault, text: s.text})
		}
	}
	for _, f := range p.r.found {
		marks = append(marks, f.mark)
	}
	for i := len(p.r.cuts); i < len(marks); i++ {
		marks[i].bare = true
	}
	more := make([]int, len(marks))
	for _, c := range p.losses {
		for i := range marks {
			if text := p.blame(&marks[i], c); text != "" && marks[i].lost {
				more[i] += len(c)
			} else if text != "" {
				marks[i].text, marks[i].lost = marks[i].text+text, true
			}
		}
	}
	for i, n := range more {
		if n > 0 {
			marks[i].text += " and " + num(int64(n)) + " more"
		}
	}
	return marks
}

// blame says what a mark has to do with a loss, "" if nothing.
func (p *panel) blame(m *mark, c cause) string {
	f := c[0]
	event := " (event " + num(int64(f.Lost.Seq)) + ")"
	at := func(w checker.Moment, g glyph) bool {
		return w.Seq > 0 && w.Node == p.r.node && w.At == m.at && m.glyph == g
	}
	switch {
	case f.Lost.Seq == f.Sealed.Seq && at(f.Sealed, glyphElection):
		return " without " + c.brief() + event
	case at(f.Sealed, glyphElection):
		return " without " + c.brief()
	case at(f.Lost, glyphCut), f.Lost.Seq > 0 && f.Lost.Node == p.r.node && f.Lost.At == m.at && strings.HasPrefix(m.text, "down: "):
		return ", lost here: " + c.brief() + event
	}
	return ""
}

// clear takes the hatching of outages away from behind a label.
func (p *panel) clear(l label, base float64) {
	const rim = 3
	for _, s := range p.r.down {
		from, to := max(l.at-rim, p.scale.place(s.from)), min(l.at+l.width+rim, p.scale.place(s.to))
		if from < to {
			p.rect(from, base-10, to, base+4, down)
		}
	}
}

// labels writes cuts and reigns above the log.
func (p *panel) labels() {
	marks := p.marks()
	p.placeMarks(marks, p.layout.rows)
	for i := range marks {
		m := &marks[i]
		if m.label.row < 0 {
			continue
		}
		x, base := p.scale.place(m.at), p.l.top+replicaLabel*float64(p.layout.rows-m.label.row)-2
		if i < len(p.r.cuts) && m.label.at > x {
			p.line(0.8, muted, []vg.Length{vg.Points(1.5), vg.Points(2)}, x, base-8, x, p.y(p.r.cuts[i].from))
		}
		st := m.style()
		st.bold = st.bold || m.glyph == glyphElection
		p.clear(m.label, base)
		p.text(m.label.at, base, st, m.text)
	}
	for _, c := range p.r.cleaned {
		p.glyph(glyphClean, p.scale.place(c.at), p.floor-glyphSize, ink)
	}
	for _, c := range p.r.cuts {
		x := p.scale.place(c.at)
		p.line(1.8, ink, nil, x, p.y(c.from), x, p.y(c.to))
		p.glyph(glyphCut, x, p.y(c.to)-glyphSize, ink)
	}
	for _, f := range p.r.found {
		y := (p.high + p.floor) / 2
		if f.offset >= 0 && f.offset < p.tracks.top {
			y = (p.y(f.offset) + p.y(f.offset+1)) / 2
		}
		x := p.scale.place(f.at)
		p.line(0.9, lostRed, dashes, x, p.high, x, y-7)
		p.glyph(glyphFound, x, y, lostRed)
	}
}
