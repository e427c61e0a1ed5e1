package reports

import (
	"image/color"

	"tidemark/checker"
	"tidemark/model/event"
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
	drawn := 0.0 // where the last plain tick stands
	for i := range c.marks {
		look, x := b.look(&c.marks[i]), b.scale.place(c.marks[i].at)
		if look.text != "" && labels[i].row >= 0 {
			b.text(labels[i].at, l.top+13, look.style, look.text)
		}
		if look.text == "" && x-drawn < 2 {
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

func (b *brush) look(m *clientMark) look {
	for _, f := range b.losses {
		if f.Acked.Seq == m.seq {
			return look{glyphAck, "acknowledged: " + records(f) + " (event " + num(int64(m.seq)) + ")", lostStyle, lostRed, 0}
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

// tally says how many records the client had acknowledged.
func (c *clientTrack) tally() string {
	acks := 0
	for i := range c.marks {
		if c.marks[i].kind == event.SendOK {
			acks++
		}
	}
	switch acks {
	case 0:
		return ""
	case 1:
		return "1 ack"
	}
	return num(int64(acks)) + " acks"
}

func records(f *checker.Finding) string {
	if f.Last > f.Offset {
		return "offsets " + num(int64(f.Offset)) + " to " + num(int64(f.Last))
	}
	return "offset " + num(int64(f.Offset))
}

// lost marks when acknowledged records were promised and where they vanished,
// over everything else; the labels of the lanes say it in words.
func (b *brush) lost() {
	for _, f := range b.losses {
		if f.Acked.Seq > 0 {
			x := b.scale.place(f.Acked.At)
			b.line(0.9, lostRed, dashes, x, b.layout.replicas[0].top, x, b.layout.bottom())
		}
		for i, r := range b.tracks.replicas {
			if r.node == f.Lost.Node {
				p := b.panel(i)
				b.glyph(glyphLost, b.scale.place(f.Lost.At), (p.y(f.Offset)+p.y(f.Last+1))/2, lostRed)
			}
		}
	}
}
