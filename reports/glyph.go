package reports

import "image/color"

// glyph is a sign on the picture; each has a shape of its own, so that none
// needs its colour to be told apart.
type glyph uint8

const (
	glyphElection glyph = iota // a filled diamond
	glyphISR                   // a bar
	glyphDeath                 // a cross
	glyphStart                 // a triangle pointing up
	glyphFault                 // a bolt, drawn as a square on its edge with a hole
	glyphCut                   // scissors' cut: a triangle pointing down
	glyphLost                  // a red star
	glyphAck                   // a vertical tick
	glyphRead                  // an open circle
	glyphFailed                // a small cross
	glyphClean                 // two bars, pressed together
	glyphFound                 // a red ring around whatever is there
)

const glyphSize = 4.5

// glyph draws a sign with its middle at (x, y).
func (p *pen) glyph(g glyph, x, y float64, c color.Color) {
	const s = glyphSize
	switch g {
	case glyphElection:
		p.polygon(c, x, y-s-1, x+s+1, y, x, y+s+1, x-s-1, y)
	case glyphISR:
		p.rect(x-1.5, y-s, x+1.5, y+s, c)
	case glyphDeath:
		p.line(2.2, c, nil, x-s, y-s, x+s, y+s)
		p.line(2.2, c, nil, x-s, y+s, x+s, y-s)
	case glyphStart:
		p.polygon(c, x, y-s, x+s, y+s-1, x-s, y+s-1)
	case glyphFault:
		p.frame(x-s+1, y-s+1, x+s-1, y+s-1, 1.6, c)
	case glyphCut:
		p.polygon(c, x-s, y-s, x+s, y-s, x, y+s)
	case glyphLost:
		p.star(x, y, 8, c)
	case glyphAck:
		p.line(1.6, c, nil, x, y-s-1, x, y+s+1)
	case glyphRead:
		p.disc(x, y, s-0.5, c)
		p.disc(x, y, s-2.2, paper)
	case glyphClean:
		p.rect(x-s, y-s+1, x+s, y-1, c)
		p.rect(x-s, y+1, x+s, y+s-1, c)
	case glyphFound:
		p.ring(x, y, 7, c)
	case glyphFailed:
		p.line(1.4, c, nil, x-s+1.5, y-s+1.5, x+s-1.5, y+s-1.5)
		p.line(1.4, c, nil, x-s+1.5, y+s-1.5, x+s-1.5, y-s+1.5)
	}
}

// star draws a star with eight spikes and a white rim, to stand out on any
// background.
func (p *pen) star(x, y, r float64, c color.Color) {
	p.polygon(paper, starPoints(x, y, r+2)...)
	p.polygon(c, starPoints(x, y, r)...)
}

// starPoints are the corners of a star: a spike every eighth of a turn.
func starPoints(x, y, r float64) []float64 {
	const inner, diagonal = 0.42, 0.7071067811865476
	near := r * inner
	// cos and sin of the sixteenth turns between the spikes.
	const c16, s16 = 0.9238795325112867, 0.3826834323650898
	far := [8][2]float64{{1, 0}, {diagonal, diagonal}, {0, 1}, {-diagonal, diagonal}, {-1, 0}, {-diagonal, -diagonal}, {0, -1}, {diagonal, -diagonal}}
	mid := [8][2]float64{{c16, s16}, {s16, c16}, {-s16, c16}, {-c16, s16}, {-c16, -s16}, {-s16, -c16}, {s16, -c16}, {c16, -s16}}
	var xy []float64
	for i := range far {
		xy = append(xy, x+r*far[i][0], y+r*far[i][1], x+near*mid[i][0], y+near*mid[i][1])
	}
	return xy
}
