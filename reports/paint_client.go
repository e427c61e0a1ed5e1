package reports

import (
	"image/color"

	"tidemark/checker"
	"tidemark/model/event"
	"tidemark/model/kafka"
)

// client paints what one application was told.
func (b *brush) client(l lane, c *clientTrack) {
	y := l.bottom - 10
	labels := make([]label, len(c.marks))
	for i := range c.marks {
		look := b.look(&c.marks[i])
		labels[i] = label{x: b.scale.place(c.marks[i].at), width: b.width(look.style, look.text), rank: look.rank}
	}
	placeLabels(labels, laneLeft+4, laneRight-4, 1)
	drawn := 0.0 // where the last tick without a label stands
	for i := range c.marks {
		look, x := b.look(&c.marks[i]), b.scale.place(c.marks[i].at)
		if look.text != "" && labels[i].row >= 0 {
			b.text(labels[i].at, l.top+13, look.style, look.text)
		}
		if m := &c.marks[i]; m.found != "" {
			b.glyph(glyphFound, x, y, lostRed)
			if m.alone {
				continue
			}
		} else if unread := look.glyph == glyphRead && labels[i].row < 0; look.text == "" && x-drawn < 2 || unread && x-drawn < 2*glyphSize {
			continue
		}
		drawn = x
		b.glyph(look.glyph, x, y, look.colour)
	}
}

// look is how a mark of a client is drawn.
type look struct {
	glyph  glyph
	text   string
	style  style
	colour color.Color
	rank   int
}

// look is how a mark is drawn: what was found wrong then joins what the client
// was told.
func (b *brush) look(m *clientMark) look {
	l := b.told(m)
	if m.alone {
		l.text = ""
	}
	if m.found != "" {
		if l.text != "" {
			l.text += ", "
		}
		l.text, l.style, l.rank = l.text+m.found, lostStyle, 0
	}
	return l
}

func (b *brush) told(m *clientMark) look {
	for _, c := range b.losses {
		switch f := c[0]; {
		case f.Acked.Seq == m.seq:
			return look{glyphAck, "acknowledged: " + c.brief() + " (" + c.since() + ")", lostStyle, lostRed, 0}
		case m.kind == event.SendOK && f.Acked.Seq > 0 && m.seq < c.lastMoment() && m.promised && c.holds(m.offset):
			return look{glyph: glyphAck, style: lostStyle, colour: lostRed, rank: 3}
		}
	}
	switch m.kind {
	case event.PollOK:
		return look{glyphRead, m.text, labelStyle, tideLine, 1}
	case event.SendFail, event.SendUnknown:
		return look{glyphFailed, m.text, quietStyle, muted, 2}
	case event.PositionReset:
		return look{glyphFault, m.text, quietStyle, ink, 1}
	}
	return look{glyph: glyphAck, style: labelStyle, colour: ink, rank: 3}
}

// tally says how many records the client had acknowledged, and with how many
// batches if one tick stands for several: their acknowledgements come at once.
func (c *clientTrack) tally() string {
	acks, batches, last := 0, 0, int64(-1)
	for i := range c.marks {
		if m := &c.marks[i]; m.kind == event.SendOK {
			acks++
			if m.at != last {
				batches++
			}
			last = m.at
		}
	}
	switch {
	case acks == 0:
		return ""
	case batches == acks:
		return plural(acks, "ack")
	case batches == 1:
		return plural(acks, "ack") + " in 1 batch"
	}
	return plural(acks, "ack") + " in " + num(int64(batches)) + " batches"
}

// since names the event of the first acknowledgement.
func (c cause) since() string {
	s := "event " + num(int64(c[0].Acked.Seq))
	if len(c) > 1 {
		return "from " + s + " on"
	}
	return s
}

func records(f *checker.Finding) string {
	if f.Last > f.Offset {
		return "offsets " + num(int64(f.Offset)) + " to " + num(int64(f.Last))
	}
	return "offset " + num(int64(f.Offset))
}

// promises marks when the records were acknowledged that are lost, through all
// lanes down to the client's, but not where labels are.
func (b *brush) promises() {
	for _, c := range b.losses {
		if c[0].Acked.Seq == 0 {
			continue
		}
		x := b.scale.place(c[0].Acked.At)
		down := func(top, bottom float64) { b.line(0.9, lostRed, dashes, x, top, x, bottom) }
		for i, l := range b.layout.replicas {
			down(b.panel(i).high, l.bottom+laneGap)
		}
		for i, l := range b.layout.clients {
			down(l.top+clientHeight/2, l.bottom)
			if b.tracks.clients[i].name == c[0].Client {
				break
			}
			down(l.bottom, l.bottom+laneGap)
		}
	}
}

// lost marks where acknowledged records vanished, over everything else; the
// labels of the lanes say it in words.
func (b *brush) lost() {
	for _, c := range b.losses {
		for i, r := range b.tracks.replicas {
			if at := c[0].Lost; at.Seq > 0 && r.node == at.Node {
				b.glyph(glyphLost, b.scale.place(at.At), b.panel(i).vanished(c), lostRed)
			}
		}
	}
}

// vanished is the height at which a loss is marked: on the cut that took the
// records, else on the log end.
func (p *panel) vanished(c cause) float64 {
	at := c[0].Lost.At
	first, last := c.span()
	for _, cut := range p.r.cuts {
		if cut.at == at {
			return (p.y(max(first, cut.to)) + p.y(min(last+1, cut.from))) / 2
		}
	}
	end := kafka.Offset(0)
	for _, q := range p.r.points {
		if q.at <= at && q.end != kafka.NoOffset {
			end = q.end
		}
	}
	return p.y(end)
}
