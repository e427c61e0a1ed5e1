package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress shows on a terminal how far a run has come, and nothing in a pipe.
type progress struct {
	w     io.Writer
	title string
	shown time.Time
	drawn bool
}

// progressEvery is the pace of the display, in real time.
const progressEvery = 200 * time.Millisecond

func newProgress(w io.Writer, title string) *progress {
	f, ok := w.(*os.File)
	if !ok {
		return &progress{}
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &progress{}
	}
	return &progress{w: w, title: title, shown: time.Now()}
}

// at notes that the run has reached an instant of simulated time.
func (p *progress) at(simulated time.Duration) {
	if p.due() {
		fmt.Fprintf(p.w, "\r%s: %v simulated", p.title, simulated.Round(time.Millisecond))
	}
}

// seeds notes how far a sweep has come and what it found.
func (p *progress) seeds(done int, of uint64, verdicts string) {
	if p.due() {
		fmt.Fprintf(p.w, "\r%s: %d of %d seeds, %s", p.title, done, of, verdicts)
	}
}

// step notes what a long measurement is at.
func (p *progress) step(what string) {
	if p.w != nil {
		p.drawn = true
		fmt.Fprintf(p.w, "\r\x1b[K%s: %s", p.title, what)
	}
}

// due reports whether it is time to draw again.
func (p *progress) due() bool {
	if p.w == nil || time.Since(p.shown) < progressEvery {
		return false
	}
	p.shown, p.drawn = time.Now(), true
	return true
}

// done clears the display.
func (p *progress) done() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
