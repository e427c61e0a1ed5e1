package reports

// sign is one entry of the legend.
type sign struct {
	name  string
	mark  string // in text, where no picture can be drawn
	width float64
	draw  func(b *brush, x, y float64)
}

// signs explain everything that a lane shows.
var signs = []sign{
	{"log end offset", "─", 18, func(b *brush, x, y float64) { b.line(1.8, ink, nil, x, y, x+18, y) }},
	{"below the high watermark", "█", 18, func(b *brush, x, y float64) {
		b.rect(x, y-5, x+18, y+5, tide)
		b.line(1, tideLine, nil, x, y-5, x+18, y-5)
	}},
	{"above it: may be lost", "░", 18, func(b *brush, x, y float64) { b.rect(x, y-5, x+18, y+5, tail) }},
	{"leads, by epoch", "eN", 18, func(b *brush, x, y float64) {
		b.rect(x, y-5, x+9, y+5, epochTints[1])
		b.rect(x+9, y-5, x+18, y+5, epochTints[2])
	}},
	{"lost record, where copies exist", "║", 18, func(b *brush, x, y float64) {
		for d := 2.0; d < 18; d += 5 {
			b.line(1.4, lostRed, nil, x+d, y-5, x+d, y+5)
		}
		b.line(1.2, lostRed, nil, x, y+5, x+18, y+5)
	}},
	{"offsets of a finding", "▬", 18, func(b *brush, x, y float64) {
		b.rect(x, y-5, x+18, y+5, lostTint)
		b.line(1.2, lostRed, nil, x, y-5, x+18, y-5)
		b.line(1.2, lostRed, nil, x, y+5, x+18, y+5)
	}},
	{"in ISR, out", "■□", 24, func(b *brush, x, y float64) {
		b.rect(x, y-3, x+12, y+3, muted)
		b.frame(x+12, y-3, x+24, y+3, 0.8, muted)
	}},
	{"down", "▒", 16, func(b *brush, x, y float64) { b.hatch(x, y-5, x+16, y+5, down, downLine) }},
	{"below the log start", "▨", 18, func(b *brush, x, y float64) {
		b.hatch(x, y-5, x+18, y+5, tail, muted)
		b.line(1.2, ink, nil, x, y-5, x+18, y-5)
	}},
	{"election", "◆", 12, func(b *brush, x, y float64) { b.glyph(glyphElection, x+6, y, ink) }},
	{"ISR change", "|", 8, func(b *brush, x, y float64) { b.glyph(glyphISR, x+4, y, muted) }},
	{"death", "✕", 12, func(b *brush, x, y float64) { b.glyph(glyphDeath, x+6, y, ink) }},
	{"start", "▲", 12, func(b *brush, x, y float64) { b.glyph(glyphStart, x+6, y, ink) }},
	{"other fault", "□", 12, func(b *brush, x, y float64) { b.glyph(glyphFault, x+6, y, muted) }},
	{"log cut", "▼", 12, func(b *brush, x, y float64) { b.glyph(glyphCut, x+6, y, ink) }},
	{"compaction", "=", 12, func(b *brush, x, y float64) { b.glyph(glyphClean, x+6, y, ink) }},
	{"ack", "╵", 8, func(b *brush, x, y float64) { b.glyph(glyphAck, x+4, y, ink) }},
	{"failed send", "×", 10, func(b *brush, x, y float64) { b.glyph(glyphFailed, x+5, y, muted) }},
	{"read", "○", 12, func(b *brush, x, y float64) { b.glyph(glyphRead, x+6, y, tideLine) }},
	{"found", "◯", 16, func(b *brush, x, y float64) { b.glyph(glyphFound, x+8, y, lostRed) }},
	{"acknowledged and lost", "★", 18, func(b *brush, x, y float64) { b.glyph(glyphLost, x+9, y, lostRed) }},
}

// Legend explains the picture's signs in words, one line for each.
func Legend() []string {
	var lines []string
	for i := range signs {
		lines = append(lines, signs[i].mark+"  "+signs[i].name)
	}
	return lines
}

// legendRow is the number of signs in the first row: what has an extent in
// time. Moments are in the second.
const legendRow = 9

// legend writes the signs in two rows.
func (b *brush) legend() {
	const space = 22
	x, y := margin, b.layout.legend+10
	for i := range signs {
		if i == legendRow {
			x, y = margin, y+18
		}
		s := &signs[i]
		s.draw(b, x, y)
		x += s.width + 5
		b.text(x, y+4, quietStyle, s.name)
		x += b.width(quietStyle, s.name) + space
	}
}
