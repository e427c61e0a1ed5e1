package inspect

import (
	"errors"
	"fmt"
	"io"

	"tidemark/disk"
)

// ErrChanging is wrapped by the error of a directory that was another one with
// every look, so that nothing can be said of it.
var ErrChanging = errors.New("changes while it is read")

// errGone: a file was listed, and was not there when it was opened.
var errGone = fmt.Errorf("it went before it was opened: %w", disk.ErrNotExist)

// tries is how often something is looked at that a broker may be changing.
const tries = 8

// certain is how many looks have to find the same fault, one after the other, in a
// directory that is never the same: what is being written has another fault each
// time, or none.
const certain = 4

// steady looks at what a running broker may be changing, until a look finds nothing
// wrong or the same fault is found again. In a directory whose names and sizes
// stayed, two looks are enough; in one that keeps changing it takes more.
//
// A look gets how many there were before, and returns what it looked at, nil if
// that is only small files.
func (w *walk) steady(dir string, look func(before int) (*pin, error)) error {
	sum := w.sum
	var last *Fault
	var held *pin
	agreed := 0
	for try := range tries {
		if try > 0 {
			w.sum = sum
			w.opts.again(try)
		}
		p, err := look(try)
		p.close()
		var fault *Fault
		switch {
		case err == nil:
			return nil
		case errors.As(err, &fault):
		case errors.Is(err, errGone), errors.Is(err, io.ErrUnexpectedEOF):
			agreed = 0
		default:
			return err
		}
		if fault == nil {
			last, held = nil, nil
			continue
		}
		if last == nil || last.File != fault.File || last.Position != fault.Position {
			agreed = 0
		}
		agreed++
		quiet := p == nil || p.same(held)
		last, held = fault, p
		if agreed >= certain || agreed > 1 && quiet {
			return fault
		}
	}
	return fmt.Errorf("%s: %w: stop its broker, or try again", dir, ErrChanging)
}
