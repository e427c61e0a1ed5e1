package inspect

import (
	"errors"
	"fmt"
	"strconv"
)

// Fault is the first byte found that a sound directory would not hold.
type Fault struct {
	File     string // path as the Files know it
	Position int64  // in the file, bytes
	Reason   string // one line

	// torn: the file ends where bytes had to follow, as that of a process does that
	// was killed while it wrote, or is writing.
	torn bool
}

// Error implements error: one line.
func (f *Fault) Error() string {
	return f.File + ": byte " + strconv.FormatInt(f.Position, 10) + ": " + f.Reason
}

// fault makes the error of a byte of a file.
func (s *source) fault(pos int64, format string, v ...any) error {
	return &Fault{File: s.path, Position: pos, Reason: fmt.Sprintf(format, v...)}
}

// torn makes the fault of a file that ends where bytes had to follow.
func (s *source) torn(pos int64, format string, v ...any) error {
	return &Fault{File: s.path, Position: pos, Reason: fmt.Sprintf(format, v...), torn: true}
}

func isTorn(err error) bool {
	var f *Fault
	return errors.As(err, &f) && f.torn
}

// Note tells of something that is not as a clean stop leaves it and that the next
// start mends, or that could not be checked.
type Note struct {
	File string
	Text string // one line
}

// String is the note as one line.
func (n Note) String() string { return n.File + ": " + n.Text }
