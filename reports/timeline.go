package reports

import (
	"bytes"
	"errors"
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"tidemark/checker"
	"tidemark/model/event"
)

// The picture's measures, in points; a point is a pixel of the SVG.
const (
	pictureWidth  = 1400.0
	pictureHeight = 900.0
	laneLeft      = 144.0 // the lanes' names stand left of it
	laneRight     = pictureWidth - 24
	margin        = 24.0
	// minPanel is the least height of a replica's lane; more replicas than fit
	// make the picture higher.
	minPanel = 104.0
	// pngScale is the number of pixels of the PNG for a point.
	pngScale = 2
)

// Picture is one partition over time, ready to be written.
type Picture struct {
	tracks  *tracks
	report  checker.Report
	title   string
	replay  string
	ruler   ruler
	summary []string // lines under the title
	scale   *timeScale
	losses  []cause
	layout  layout
}

// ErrNothingToShow is returned for a run in which no partition has a replica.
var ErrNothingToShow = errors.New("the run has no partition to show")

// Timeline draws one partition of a run: see the package comment. It fails
// with ErrNothingToShow if the events tell of no replica of it.
func Timeline(events []event.Event, rep checker.Report, o Options) (*Picture, error) {
	tp, ok := o.subject(events, &rep)
	if !ok {
		return nil, ErrNothingToShow
	}
	t := newTracks(events, tp)
	if len(t.replicas) == 0 || len(t.instants) == 0 {
		return nil, fmt.Errorf("%v: %w", tp, ErrNothingToShow)
	}
	title := tp.String()
	if o.Title != "" {
		title = o.Title + "  ·  " + title
	}
	p := &Picture{tracks: t, report: rep, title: title, replay: o.Replay, ruler: newRuler()}
	p.scale = newTimeScale(t.instants, laneLeft+10, laneRight-10)
	p.losses = causes(losses(&p.report, tp))
	p.summary = p.ruler.wrap(bodyStyle, p.sentence(), pictureWidth-2*margin, 2)
	p.place()
	return p, nil
}

// SVG writes the picture as SVG. Texts name fonts of one set of metrics, of
// which most systems have one.
func (p *Picture) SVG() ([]byte, error) {
	c := vgsvg.New(vg.Points(pictureWidth), vg.Points(p.layout.height))
	p.paint(newPen(c, p.ruler))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("write SVG: %w", err)
	}
	svg := b.Bytes()
	for _, family := range []string{"Liberation Sans", "Liberation Mono"} {
		fallback := ",Arial,Helvetica,sans-serif;"
		if family == "Liberation Mono" {
			fallback = ",'Courier New',monospace;"
		}
		svg = bytes.ReplaceAll(svg, []byte("font-family:"+family+";"), []byte("font-family:'"+family+"'"+fallback))
	}
	return svg, nil
}

// PNG writes the picture as PNG with two pixels for a point.
func (p *Picture) PNG() ([]byte, error) {
	const dpi = 72 * pngScale
	c := vgimg.NewWith(vgimg.UseWH(vg.Points(pictureWidth), vg.Points(p.layout.height)), vgimg.UseDPI(dpi))
	p.paint(newPen(c, p.ruler))
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(&b); err != nil {
		return nil, fmt.Errorf("write PNG: %w", err)
	}
	return b.Bytes(), nil
}
