package history

import "fmt"

// Error is a fault of the input, in one line: where it is, in which field, and
// what stands there and should not.
type Error struct {
	File  string
	Line  int    // from 1; 0: the file as a whole
	Field string // JSON key or the like; "" if it concerns the whole line
	Err   error  // what was expected, what was found
}

// Error is the line; a name or a value in it that does not print is escaped.
func (e *Error) Error() string { return Printable(e.line()) }

func (e *Error) line() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	if e.Field != "" {
		return fmt.Sprintf("%s: field %q: %v", where, e.Field, e.Err)
	}
	return fmt.Sprintf("%s: %v", where, e.Err)
}

// Unwrap gives the fault itself.
func (e *Error) Unwrap() error { return e.Err }
