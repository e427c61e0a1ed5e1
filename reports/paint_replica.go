package reports

import (
	"image/color"
	"slices"

	"tidemark/checker"
	"tidemark/model/kafka"
)

const (
	// rows of labels
	leastReplicaRows = 2
	mostReplicaRows  = 4
	replicaLabel     = 14.0 // height of a row
	isrBarHeight     = 6.0
	isrBarBelow      = 9.0 // between the log and the bar
	offsetRoom       = 0.1 // above the highest log end
	mostGridLines    = 5
)

// panel is one replica's lane while it is painted.
type panel struct {
	*brush
	l           lane
	r           *replicaTrack
	high, floor float64 // of the log: where the highest offset and offset 0 lie
}

func (b *brush) panel(i int) *panel {
	l := b.layout.replicas[i]
	return &panel{b, l, b.tracks.replicas[i], l.top + float64(b.layout.rows)*replicaLabel + 4, l.bottom - isrBarHeight - isrBarBelow}
}

// replica paints the i-th replica's lane, up to its labels.
func (b *brush) replica(i int) {
	p := b.panel(i)
	p.reigns()
	p.grid()
	p.breaks(p.high, p.l.bottom)
	p.log()
	p.starts()
	p.outages()
	p.isrBar()
}

func (p *panel) y(o kafka.Offset) float64 {
	return p.floor - float64(o)/(float64(max(p.tracks.top, 1))*(1+offsetRoom))*(p.floor-p.high)
}

// reigns tints the time in which the replica leads.
func (p *panel) reigns() {
	for _, s := range p.r.leads {
		p.rect(p.scale.place(s.from), p.l.top, p.scale.place(s.to), p.l.bottom, epochTints[int(s.epoch)%len(epochTints)])
	}
}

// grid draws offset lines and their numbers, in steps of 1, 2 or 5 tens.
func (p *panel) grid() {
	step, next := kafka.Offset(1), kafka.Offset(2)
	for p.tracks.top/step > mostGridLines {
		step, next = next, next*2
		if lead := leadingDigit(next); lead == 4 {
			next = next / 4 * 5
		}
	}
	for o := kafka.Offset(0); o <= p.tracks.top; o += step {
		y := p.y(o)
		p.line(0.5, faint, nil, laneLeft, y, laneRight, y)
		p.textRight(laneLeft-6, y+3.5, quietStyle, num(int64(o)))
	}
}

func leadingDigit(o kafka.Offset) kafka.Offset {
	for o >= 10 {
		o /= 10
	}
	return o
}

// state is a point of the log with its place.
type state struct {
	x       float64
	at      int64
	end, hw kafka.Offset
}

// log paints the tide of the high watermark, the tail above it, the records
// that did not last and the log end.
func (p *panel) log() {
	for _, run := range p.runs() {
		hw := func(s state) kafka.Offset { return min(max(s.hw, 0), s.end) }
		end := func(s state) kafka.Offset { return s.end }
		p.area(run, tail, hw, end)
		p.area(run, tide, func(state) kafka.Offset { return 0 }, hw)
		for _, b := range p.bands() {
			p.band(run, b)
		}
		for _, c := range p.losses {
			for _, f := range c {
				if f.Acked.Seq > 0 {
					p.stripes(run, f)
				}
			}
		}
		p.edge(run, tideLine, 1, hw)
		p.edge(run, ink, 1.8, end)
	}
}

// starts strikes out what lies below the log start.
func (p *panel) starts() {
	for _, s := range p.r.starts {
		from, to, y := p.scale.place(s.from), p.scale.place(s.to), p.y(s.offset)
		p.hatch(from, y, to, p.floor, tail, muted)
		p.line(1.2, ink, nil, from, y, to, y)
	}
}

// runs cuts the points where the state is not known. Each run ends with a copy
// of its last state at the instant at which it stops; points too close to be
// told apart are one.
func (p *panel) runs() [][]state {
	var runs [][]state
	var run []state
	stop := func(at int64) {
		if len(run) > 0 {
			last := run[len(run)-1]
			last.at, last.x = at, p.scale.place(at)
			runs = append(runs, append(run, last))
			run = nil
		}
	}
	for _, q := range p.r.points {
		if q.end == kafka.NoOffset {
			stop(q.at)
			continue
		}
		s := state{p.scale.place(q.at), q.at, q.end, q.hw}
		if n := len(run); n > 1 && s.x-run[n-1].x < 0.3 && s.end >= run[n-1].end {
			s.x = run[n-1].x
			run[n-1] = s
			continue
		}
		run = append(run, s)
	}
	stop(p.tracks.end)
	return runs
}

// area fills between two levels that change at states and hold between them.
func (p *panel) area(run []state, c color.Color, lo, hi func(state) kafka.Offset) {
	var top, bottom []float64
	flush := func() {
		if len(top) > 0 {
			for i := len(bottom) - 2; i >= 0; i -= 2 {
				top = append(top, bottom[i], bottom[i+1])
			}
			p.polygon(c, top...)
			top, bottom = nil, nil
		}
	}
	for i := 0; i+1 < len(run); i++ {
		l, h := lo(run[i]), hi(run[i])
		if h <= l {
			flush()
			continue
		}
		top = append(top, run[i].x, p.y(h), run[i+1].x, p.y(h))
		bottom = append(bottom, run[i].x, p.y(l), run[i+1].x, p.y(l))
	}
	flush()
}

// edge draws a level as a line with steps.
func (p *panel) edge(run []state, c color.Color, width float64, level func(state) kafka.Offset) {
	var xy []float64
	for i, s := range run {
		if i > 0 {
			xy = append(xy, s.x, p.y(level(run[i-1])))
		}
		xy = append(xy, s.x, p.y(level(s)))
	}
	p.line(width, c, nil, xy...)
}

// band tints the offsets of a finding as long as the replica's log reaches over
// them.
func (p *panel) band(run []state, b band) {
	for i := 0; i+1 < len(run); {
		hi, k := min(run[i].end, b.to), i+1
		for k+1 < len(run) && min(run[k].end, b.to) == hi {
			k++
		}
		if hi > b.from {
			x0, x1, y0, y1 := run[i].x, run[k].x, p.y(hi), p.y(b.from)
			p.rect(x0, y0, x1, y1, lostTint)
			p.line(1.2, lostRed, nil, x0, y0, x1, y0)
			p.line(1.2, lostRed, nil, x0, y1, x1, y1)
		}
		i = k
	}
}

// stripes marks the records of a finding as long as the replica holds them.
func (p *panel) stripes(run []state, f *checker.Finding) {
	const every = 5.0
	for i := 0; i+1 < len(run); i++ {
		hi := min(run[i].end, f.Last+1)
		if hi <= f.Offset || p.replaced(run[i], f) {
			continue
		}
		x0, x1, y0, y1 := run[i].x, run[i+1].x, p.y(hi), p.y(f.Offset)
		first := float64(int(x0/every)+1) * every
		for x := first; x < x1; x += every {
			p.line(1.4, lostRed, nil, x, y0, x, y1)
		}
		p.line(1.2, lostRed, nil, x0, y1, x1, y1)
	}
}

// replaced reports whether what lies at the finding's offset is another record:
// the replica had been cut there and a leader without the record was elected.
// Where the trace does not show the loss, a pass of the cleaner may have been it.
func (p *panel) replaced(s state, f *checker.Finding) bool {
	switch {
	case f.Lost.Seq == 0 && f.Sealed.Seq == 0:
		return slices.ContainsFunc(p.r.passes, func(c cleaning) bool { return c.from <= f.Last && f.Offset < c.to && c.at <= s.at })
	case f.Sealed.Seq == 0:
		return s.at >= f.Lost.At
	}
	cut := slices.ContainsFunc(p.r.cuts, func(c cutMark) bool { return c.to <= f.Offset && c.at <= s.at })
	late := len(p.r.points) == 0 || p.firstReach(f.Offset) >= f.Sealed.At
	return s.at >= f.Sealed.At && (cut || late)
}

// firstReach is when the log first reached over an offset.
func (p *panel) firstReach(o kafka.Offset) int64 {
	for _, q := range p.r.points {
		if q.end > o {
			return q.at
		}
	}
	return p.tracks.end
}

// outages hatches the time in which the node is down or paused.
func (p *panel) outages() {
	for _, s := range p.r.down {
		from, to := p.scale.place(s.from), p.scale.place(s.to)
		p.hatch(from, p.l.top, to, p.l.bottom, down, downLine)
		w, mid, y := p.width(strongStyle, s.text), (from+to)/2, (p.high+p.floor)/2
		switch p.room(s) {
		case roomAcross:
			p.rect(mid-w/2-5, y-9, mid+w/2+5, y+7, down)
			p.textCentre(mid, y+3, strongStyle, s.text)
		case roomUp:
			p.rect(mid-7, y-w/2-3, mid+7, y+w/2+3, down)
			p.textUp(mid, y, strongStyle, s.text)
		}
	}
}

// room is how the text of an outage fits within its hatching.
type room uint8

const (
	noRoom room = iota
	roomAcross
	roomUp // written upwards
)

func (p *panel) room(s span) room {
	w, wide := p.width(strongStyle, s.text), p.scale.place(s.to)-p.scale.place(s.from)
	switch {
	case w+12 < wide:
		return roomAcross
	case wide > 18 && w+6 < logRoom:
		return roomUp
	}
	return noRoom
}

// isrBar is solid while the controller counts the replica into the ISR.
func (p *panel) isrBar() {
	y0, y1 := p.l.bottom-isrBarHeight-1.5, p.l.bottom-1.5
	left, right := p.scale.place(p.tracks.start), p.scale.place(p.tracks.end)
	p.rect(left, y0, right, y1, paper)
	for _, s := range p.r.isr {
		p.rect(p.scale.place(s.from), y0, p.scale.place(s.to), y1, muted)
	}
	p.frame(left, y0, right, y1, 0.8, muted)
	p.textRight(laneLeft-6, y1, style{size: 9, color: muted}, "ISR")
}
