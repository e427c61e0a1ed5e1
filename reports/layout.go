package reports

import "slices"

// layout is where each lane lies, from the top, in points.
type layout struct {
	legend     float64
	controller lane
	faults     lane // empty if there was none
	replicas   []lane
	clients    []lane
	rows       int // of labels in a replica's lane
	axis       float64
	caption    float64
	height     float64
}

// lane is a horizontal strip [top, bottom).
type lane struct{ top, bottom float64 }

const (
	titleHeight   = 48.0
	summaryHeight = 17.0 // a line
	legendHeight  = 58.0 // two rows
	labelRow      = 15.0 // of controller and faults
	glyphRow      = 16.0
	laneGap       = 8.0
	clientHeight  = 34.0
	axisHeight    = 40.0
	captionHeight = 30.0
	decisionRows  = 4
	faultRows     = 6
	maxClients    = 4 // without those that findings concern
)

// place lays the lanes out: those of controller and faults are as high as their
// labels need, the replicas share what is left.
func (p *Picture) place() {
	t := p.tracks
	y := titleHeight + summaryHeight*float64(len(p.summary))
	l := layout{legend: y + 8}
	y += legendHeight
	next := func(height float64) lane {
		at := lane{y, y + height}
		y = at.bottom + laneGap
		return at
	}
	l.controller = next(float64(p.placeMarks(t.decisions, decisionRows))*labelRow + glyphRow)
	if len(t.faults) > 0 {
		l.faults = next(float64(p.placeMarks(t.faults, faultRows))*labelRow + glyphRow)
	}
	p.chooseClients()
	clients := len(t.clients)
	l.rows = p.replicaRows()
	least := replicaLabel*float64(l.rows) + 4 + logRoom + isrBarHeight + isrBarBelow
	below := float64(clients)*(clientHeight+laneGap) + axisHeight + captionHeight
	each := (pictureHeight-y-below)/float64(len(t.replicas)) - laneGap
	for range t.replicas {
		l.replicas = append(l.replicas, next(max(each, least)))
	}
	for range clients {
		l.clients = append(l.clients, next(clientHeight))
	}
	l.axis = y
	l.caption = y + axisHeight
	l.height = l.caption + captionHeight
	p.layout = l
}

// chooseClients keeps the first clients, and all that a finding is marked at or
// was promised to.
func (p *Picture) chooseClients() {
	concerned := func(c *clientTrack) bool {
		return slices.ContainsFunc(c.marks, func(m clientMark) bool { return m.found != "" }) ||
			slices.ContainsFunc(p.losses, func(l cause) bool { return l[0].Client == c.name })
	}
	room := maxClients
	for _, c := range p.tracks.clients {
		if concerned(c) {
			room--
		}
	}
	p.tracks.clients = slices.DeleteFunc(slices.Clone(p.tracks.clients), func(c *clientTrack) bool {
		if concerned(c) {
			return false
		}
		room--
		return room < 0
	})
}

// replicaRows is the number of rows that the labels of the replicas need.
func (p *Picture) replicaRows() int {
	b := &brush{&pen{ruler: p.ruler}, p}
	rows := leastReplicaRows
	for _, r := range p.tracks.replicas {
		rows = max(rows, p.placeMarks((&panel{brush: b, r: r}).marks(), mostReplicaRows))
	}
	return rows
}

// placeBlank lays out a picture without lanes.
func (p *Picture) placeBlank() {
	caption := titleHeight + summaryHeight*float64(len(p.summary)) + legendHeight
	p.layout = layout{caption: caption, height: caption + captionHeight}
}

// placeMarks gives the marks of a lane their labels' places and returns the
// number of rows that they take.
func (p *Picture) placeMarks(marks []mark, rows int) int {
	const left, right = laneLeft + 4, laneRight - 4
	labels := make([]label, len(marks))
	for i := range marks {
		m := &marks[i]
		m.text = p.ruler.short(m.style(), m.text, right-left)
		labels[i] = label{x: p.scale.place(m.at), width: p.ruler.width(m.style(), m.text), bare: m.bare}
		if m.minor() {
			labels[i].rank = 1
		}
	}
	used := placeLabels(labels, left, right, rows)
	for i := range marks {
		marks[i].label = labels[i]
	}
	return max(used, 1)
}

// minor marks give way to others.
func (m *mark) minor() bool { return !m.lost && (m.glyph == glyphISR || m.glyph == glyphFault) }

func (m *mark) style() style {
	switch {
	case m.lost:
		return lostStyle
	case m.minor():
		return quietStyle
	}
	return labelStyle
}

// all are the lanes from the top.
func (l *layout) all() []lane {
	lanes := []lane{l.controller}
	if l.faults != (lane{}) {
		lanes = append(lanes, l.faults)
	}
	return append(append(lanes, l.replicas...), l.clients...)
}
