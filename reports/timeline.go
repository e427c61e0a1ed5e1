package reports

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

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
	// logRoom is the least height of a replica's log; more replicas than fit make
	// the picture higher.
	logRoom = 74.0
	// pngScale is the number of pixels of the PNG for a point.
	pngScale = 2
)

// Picture is one partition over time, or a verdict alone, ready to be written.
type Picture struct {
	tracks  *tracks
	report  checker.Report
	title   string
	replay  string
	others  string // how to see another partition, "" if there is none
	ruler   ruler
	summary []string // lines under the title
	scale   *timeScale
	losses  []cause
	found   []found // ascending
	layout  layout
	blank   bool // it has no lanes
}

// ErrNothingToShow is returned if the options ask for a partition that has no
// replica in the run.
var ErrNothingToShow = errors.New("the run has no such partition")

// Timeline draws one partition of a run: see the package comment. Of a run
// without partitions the picture has the verdict alone. It fails with
// ErrNothingToShow if the options ask for a partition without a replica.
func Timeline(events []event.Event, rep checker.Report, o Options) (*Picture, error) {
	about := o.subject(events, &rep)
	t := newTracks(events, about.tp)
	blank := len(t.replicas) == 0 || len(t.instants) == 0
	if blank && about.asked {
		return nil, fmt.Errorf("%v: %w", o.TP, ErrNothingToShow)
	}
	var title []string
	for _, s := range []string{o.Title, about.name()} {
		if s != "" {
			title = append(title, s)
		}
	}
	p := &Picture{tracks: t, report: rep, title: strings.Join(title, "  ·  "), replay: o.Replay, others: about.others(o.PartitionFlag), ruler: newRuler(), blank: blank}
	p.losses = causes(losses(&p.report, about.tp))
	if !blank {
		p.takeFindings(events)
		t.close()
	}
	p.summary = p.ruler.wrap(bodyStyle, p.sentence(), pictureWidth-2*margin, 2)
	if blank {
		p.placeBlank()
		return p, nil
	}
	p.scale = newTimeScale(t.instants, laneLeft+10, laneRight-10)
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
