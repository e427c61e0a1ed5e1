package reports

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"

	"tidemark/checker"
)

var (
	titleStyle   = style{size: 20, color: ink, bold: true}
	bodyStyle    = style{size: 13, color: ink}
	nameStyle    = style{size: 13, color: ink, bold: true}
	labelStyle   = style{size: 11, color: ink}
	strongStyle  = style{size: 11, color: ink, bold: true}
	quietStyle   = style{size: 10.5, color: muted}
	lostStyle    = style{size: 11, color: lostRed, bold: true}
	captionStyle = style{size: 11, color: muted, mono: true}
)

var dashes = []vg.Length{vg.Points(4), vg.Points(3)}

// brush is one painting of a picture.
type brush struct {
	*pen
	*Picture
}

func (p *Picture) paint(pen *pen) {
	b := &brush{pen: pen, Picture: p}
	b.rect(0, 0, pictureWidth, p.layout.height, paper)
	b.header()
	if !b.blank {
		b.events()
	}
	room := pictureWidth - 2*margin
	if p.others != "" {
		room -= b.width(captionStyle, p.others) + 2*margin
		b.textRight(laneRight, p.layout.caption+18, captionStyle, p.others)
	}
	b.text(margin, p.layout.caption+18, captionStyle, b.short(captionStyle, replayLine(p.replay), room))
}

// events paints all that lies over the time axis, and what explains it.
func (b *brush) events() {
	p := b.Picture
	b.legend()
	b.lanes()
	for i := range p.tracks.replicas {
		b.replica(i)
	}
	b.gaps()
	b.promises()
	b.marks(p.layout.controller, p.tracks.decisions)
	b.marks(p.layout.faults, p.tracks.faults)
	for i := range p.tracks.replicas {
		b.panel(i).labels()
	}
	for i, l := range p.layout.clients {
		b.client(l, p.tracks.clients[i])
	}
	b.axis()
	b.lost()
}

func replayLine(command string) string {
	if command == "" {
		return ""
	}
	return "replay: " + command
}

var verdictColours = map[checker.Verdict]color.NRGBA{
	checker.Violation: lostRed,
	checker.Excused:   {0x8a, 0x5a, 0x00, 0xff},
	checker.Unknown:   muted,
	checker.Pass:      tideLine,
}

// header writes the title, the verdict and what is behind it.
func (b *brush) header() {
	chip := style{size: 14, color: paper, bold: true}
	word := string(b.report.Verdict)
	w := b.width(chip, word) + 24
	b.rect(laneRight-w, 14, laneRight, 40, verdictColours[b.report.Verdict])
	b.text(laneRight-w+12, 32, chip, word)
	b.text(margin, 33, titleStyle, b.short(titleStyle, b.title, laneRight-w-margin-20))
	for i, line := range b.summary {
		b.text(margin, titleHeight+12+summaryHeight*float64(i), bodyStyle, line)
	}
}

// sentence is what the picture illustrates.
func (p *Picture) sentence() string {
	if p.blank {
		const none = "No partition to show."
		if why := p.judgement(""); why != "" {
			return why + ". " + none
		}
		return none
	}
	return p.judgement("Every record that was promised is there.")
}

// judgement says why the verdict is what it is, or that all is well: the
// gravest finding that concerns the partition or the run as a whole, told as the
// loss of a record that the picture shows if that is as grave.
func (p *Picture) judgement(well string) string {
	if p.report.Verdict == checker.Unknown && len(p.report.Unknown) > 0 {
		return p.report.Unknown[0]
	}
	for _, f := range gravestFirst(p.report.Findings) {
		if f.TP != p.tracks.tp && f.TP.Topic != "" {
			continue
		}
		if len(p.losses) > 0 && p.losses[0][0].Verdict == f.Verdict {
			return p.losses[0].excusedSentence()
		}
		return cause{f}.excusedSentence()
	}
	if fs := gravestFirst(p.report.Findings); len(fs) > 0 {
		return "Nothing was found in this partition, but elsewhere: " + cause{fs[0]}.excusedSentence()
	}
	if note := p.note(); note != "" {
		return "Pass. " + note + "."
	}
	return well
}

// note is the first remark on this partition, first of all one on records that
// are gone; "" for none.
func (p *Picture) note() string {
	first := ""
	for _, n := range p.report.Notes {
		text, ok := strings.CutPrefix(n.Text, p.tracks.tp.String()+": ")
		if ok && n.Rule == "lost-write" {
			return text
		}
		if ok && first == "" {
			first = text
		}
	}
	return first
}

// excusedSentence is the sentence with its premise.
func (c cause) excusedSentence() string {
	if c[0].Premise == "" {
		return c.sentence()
	}
	return c.sentence() + " (excused: " + c[0].Premise + ")"
}

// lanes paints the empty lanes and their names.
func (b *brush) lanes() {
	b.lane(b.layout.controller, "controller", "")
	if len(b.tracks.faults) > 0 {
		b.lane(b.layout.faults, "faults", "")
	}
	for i, l := range b.layout.replicas {
		b.lane(l, nodeName(b.tracks.replicas[i].node), "")
	}
	for i, l := range b.layout.clients {
		b.lane(l, b.tracks.clients[i].name, b.tracks.clients[i].tally())
	}
}

// lane paints an empty lane with its name left of it.
func (b *brush) lane(l lane, name, below string) {
	b.rect(laneLeft, l.top, laneRight, l.bottom, laneBack)
	b.text(margin, l.top+16, nameStyle, b.short(nameStyle, name, laneLeft-margin-8))
	if below != "" {
		b.text(margin, l.top+31, quietStyle, below)
	}
}

// marks paints a lane of marks with their labels above. Signs of one moment
// stand side by side.
func (b *brush) marks(l lane, marks []mark) {
	const step = 2*glyphSize + 3
	y := l.bottom - glyphRow/2 - 1
	for i := 0; i < len(marks); {
		n := 1
		for i+n < len(marks) && marks[i+n].at == marks[i].at {
			n++
		}
		x := b.scale.place(marks[i].at)
		first := min(x, laneRight-glyphSize-step*float64(n-1))
		for k := range marks[i : i+n] {
			b.mark(l, &marks[i+k], x, first+step*float64(k), y)
		}
		i += n
	}
}

// mark paints a label at its moment x and the sign at (sign, y).
func (b *brush) mark(l lane, m *mark, x, sign, y float64) {
	c := ink
	switch {
	case m.glyph == glyphFound:
		c = lostRed
	case m.minor():
		c = muted
	}
	if m.label.row >= 0 {
		base := l.bottom - glyphRow - labelRow*float64(m.label.row) - 3
		b.line(0.7, downLine, nil, x, y, x, lineTop(m, x, base))
		b.text(m.label.at, base, m.style(), m.text)
	}
	b.glyph(m.glyph, sign, y, c)
}

// lineTop is where the line to a label ends: beside it, or below it if the
// label had to move left.
func lineTop(m *mark, x, base float64) float64 {
	if m.label.at > x {
		return base - 7
	}
	return base + 3
}

// gaps marks the pieces of the time axis that are shortened, between the lanes
// and behind the logs, but not where labels are.
func (b *brush) gaps() {
	lanes := b.layout.all()
	for i, l := range lanes {
		next := b.layout.axis
		if i+1 < len(lanes) {
			next = lanes[i+1].top
		}
		b.breaks(l.bottom, next)
	}
}

// breaks draws the shortened pieces from one height to another.
func (b *brush) breaks(top, bottom float64) {
	for _, g := range b.scale.gaps() {
		x := (g.from + g.to) / 2
		for _, d := range []float64{-2, 2} {
			b.line(0.8, downLine, []vg.Length{vg.Points(1.5), vg.Points(3)}, x+d, top, x+d, bottom)
		}
	}
}

// axis writes real times under the lanes.
func (b *brush) axis() {
	y := b.layout.axis
	b.line(1, muted, nil, laneLeft, y, laneRight, y)
	ticks := b.scale.ticks(64)
	for i, t := range ticks {
		b.line(1, muted, nil, t.x, y, t.x, y+5)
		label := seconds3(t.at)
		if i > 0 && label == seconds3(ticks[i-1].at) || i+1 < len(ticks) && label == seconds3(ticks[i+1].at) {
			label = seconds4(t.at)
		}
		w := b.width(quietStyle, label)
		b.text(min(max(t.x-w/2, margin), laneRight-w), y+17, quietStyle, label)
	}
	written := laneLeft // where the last duration ends
	for _, g := range b.scale.gaps() {
		x := (g.from + g.to) / 2
		b.rect(x-5, y-3, x+5, y+3, paper)
		b.line(1.2, muted, nil, x-5, y+5, x-1, y-5)
		b.line(1.2, muted, nil, x+1, y+5, x+5, y-5)
		length := style{size: 10.5, color: ink, bold: true}
		if w := b.width(length, duration(g.length)); x-w/2 > written+4 {
			b.textCentre(x, y+31, length, duration(g.length))
			written = x + w/2
		}
	}
	b.text(margin, y+17, quietStyle, "time (s), not to scale:")
	b.text(margin, y+31, quietStyle, "long gaps shrunk")
}
