package reports

import (
	"image/color"
	"math"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ruler measures texts.
type ruler struct{ words text.Plain }

func newRuler() ruler { return ruler{text.Plain{Fonts: font.NewCache(liberation.Collection())}} }

// pen draws in points from the top left corner, x to the right and y down.
type pen struct {
	ruler
	c      draw.Canvas
	height float64
}

func newPen(c vg.CanvasSizer, r ruler) *pen {
	_, h := c.Size()
	return &pen{ruler: r, c: draw.New(c), height: h.Points()}
}

func (p *pen) at(x, y float64) vg.Point { return vg.Point{X: vg.Points(x), Y: vg.Points(p.height - y)} }

// style is how a text looks.
type style struct {
	size  float64 // points
	color color.Color
	bold  bool
	mono  bool
}

func (s style) font() font.Font {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(s.size)}
	if s.mono {
		f.Variant = "Mono"
	}
	if s.bold {
		f.Weight = stdfont.WeightBold
	}
	return f
}

// text writes s with its left end at x and its base line at y.
func (p *pen) text(x, y float64, st style, s string) {
	sty := draw.TextStyle{Color: st.color, Font: st.font(), Handler: p.words}
	p.c.FillText(sty, p.at(x, y), s)
}

// textUp writes s upwards, with its middle at (x, y).
func (p *pen) textUp(x, y float64, st style, s string) {
	sty := draw.TextStyle{Color: st.color, Font: st.font(), Handler: p.words, Rotation: math.Pi / 2}
	p.c.FillText(sty, p.at(x+st.size*0.36, y+p.width(st, s)/2), s)
}

// textRight writes s with its right end at x.
func (p *pen) textRight(x, y float64, st style, s string) { p.text(x-p.width(st, s), y, st, s) }

// textCentre writes s with its middle at x.
func (p *pen) textCentre(x, y float64, st style, s string) { p.text(x-p.width(st, s)/2, y, st, s) }

// width is the width of a text in points.
func (r ruler) width(st style, s string) float64 {
	w, _, _ := r.words.Box(s, st.font())
	return w.Points()
}

// rect fills a rectangle.
func (p *pen) rect(x0, y0, x1, y1 float64, c color.Color) {
	p.polygon(c, x0, y0, x1, y0, x1, y1, x0, y1)
}

// frame strokes a rectangle.
func (p *pen) frame(x0, y0, x1, y1, width float64, c color.Color) {
	p.line(width, c, nil, x0, y0, x1, y0, x1, y1, x0, y1, x0, y0)
}

// polygon fills the points x, y, x, y ...
func (p *pen) polygon(c color.Color, xy ...float64) {
	pts := make([]vg.Point, 0, len(xy)/2)
	for i := 0; i+1 < len(xy); i += 2 {
		pts = append(pts, p.at(xy[i], xy[i+1]))
	}
	p.c.FillPolygon(c, pts)
}

// line strokes the points x, y, x, y ...; dashes may be nil.
func (p *pen) line(width float64, c color.Color, dashes []vg.Length, xy ...float64) {
	pts := make([]vg.Point, 0, len(xy)/2)
	for i := 0; i+1 < len(xy); i += 2 {
		pts = append(pts, p.at(xy[i], xy[i+1]))
	}
	p.c.StrokeLines(draw.LineStyle{Color: c, Width: vg.Points(width), Dashes: dashes}, pts)
}

// hatch fills a rectangle with slanted lines.
func (p *pen) hatch(x0, y0, x1, y1 float64, back, line color.Color) {
	p.rect(x0, y0, x1, y1, back)
	const gap = 7.0
	h := y1 - y0
	for d := math.Ceil((x0-h)/gap) * gap; d < x1; d += gap {
		// The line from (d, y1) up to (d+h, y0), clipped to the rectangle.
		from, to := max(d, x0), min(d+h, x1)
		if from < to {
			p.line(0.7, line, nil, from, y1-(from-d), to, y1-(to-d))
		}
	}
}

// disc fills a circle.
func (p *pen) disc(x, y, r float64, c color.Color) {
	const corners = 20
	xy := make([]float64, 0, 2*corners)
	for i := range corners {
		a := 2 * math.Pi * float64(i) / corners
		xy = append(xy, x+r*math.Cos(a), y+r*math.Sin(a))
	}
	p.polygon(c, xy...)
}

// ring strokes a circle.
func (p *pen) ring(x, y, r float64, c color.Color) {
	const corners = 24
	xy := make([]float64, 0, 2*corners+2)
	for i := range corners + 1 {
		a := 2 * math.Pi * float64(i%corners) / corners
		xy = append(xy, x+r*math.Cos(a), y+r*math.Sin(a))
	}
	p.line(2.2, c, nil, xy...)
}

// short cuts a text to a width, with an ellipsis.
func (r ruler) short(st style, s string, width float64) string {
	if r.width(st, s) <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 1 && r.width(st, string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// wrap breaks a text into lines of at most width points, at most n of them.
func (r ruler) wrap(st style, s string, width float64, n int) []string {
	var lines []string
	line := ""
	for _, w := range words(s) {
		if line != "" && r.width(st, line+" "+w) > width {
			lines = append(lines, line)
			line = w
			continue
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	lines = append(lines, line)
	if len(lines) > n {
		lines[n-1] = r.short(st, lines[n-1]+" "+lines[n], width)
		lines = lines[:n]
	}
	return lines
}
