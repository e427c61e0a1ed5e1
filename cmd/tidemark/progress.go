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
	if p.w == nil || time.Since(p.shown) < progressEvery {
		return
	}
	p.shown, p.drawn = time.Now(), true
	fmt.Fprintf(p.w, "\r%s: %v simulated", p.title, simulated.Round(time.Millisecond))
}

// done clears the display.
func (p *progress) done() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
