package recording

import (
	"errors"
	"io"

	"tidemark/disk"
)

// Fault is an error as a recording keeps it: which error of the contract it is,
// and its words. The zero value is none.
type Fault struct {
	Kind uint64
	Text string
}

// sentinels are the errors that lanes tell apart, by Fault.Kind from 1; any other
// error has the kind behind the last.
var sentinels = []error{io.EOF, disk.ErrNotExist, disk.ErrExist, disk.ErrClosed, disk.ErrNoSpace, disk.ErrIO}

// FaultOf describes an error, or nil.
func FaultOf(err error) Fault {
	if err == nil {
		return Fault{}
	}
	for i, s := range sentinels {
		if errors.Is(err, s) {
			return Fault{uint64(i + 1), err.Error()}
		}
	}
	return Fault{uint64(len(sentinels) + 1), err.Error()}
}

// Err is the error again, or nil.
func (f Fault) Err() error {
	switch {
	case f.Kind == 0:
		return nil
	case f.Kind == 1:
		return io.EOF
	}
	return &replayed{f}
}

// Follows tells whether the state of the file system explains the fault, so that
// another file system in that state has it too. Others come from the device.
func (f Fault) Follows() bool {
	return f.Kind > 0 && f.Kind <= 4
}

// replayed is an error with the words that it was recorded with.
type replayed struct{ Fault }

// Error returns the recorded words.
func (r *replayed) Error() string { return r.Text }

// Unwrap returns the error of the contract, or nil.
func (r *replayed) Unwrap() error {
	if i := int(r.Kind) - 1; i < len(sentinels) {
		return sentinels[i]
	}
	return nil
}
