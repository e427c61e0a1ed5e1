package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"tidemark/model/event"
)

// Stream is a history that is read from its beginning to its end.
type Stream interface {
	// Header is what the history's first line says, or what stands for it.
	Header() Header
	// Next reads the next event into e, whose lists are good until the call
	// after. The error at the end is io.EOF; any other is one line.
	Next(e *event.Event) error
	// At is where the event that Next read last stands.
	At() (file string, line int)
}

// Reader is the Stream of a history file. It holds one line in memory.
type Reader struct {
	file   string
	in     lines
	header Header
	parser *parser
	last   uint64 // seq of the event before, 0 before the first
	lastAt int64
	rows   bool // the events have no seq: their rows count
	only   map[uint64]bool
}

// NewReader reads a history's header; file is its name in errors.
func NewReader(file string, in io.Reader) (*Reader, error) {
	r := &Reader{file: file, in: lines{in: in}, parser: newParser()}
	line, err := r.line()
	if errors.Is(err, io.EOF) {
		return nil, &Error{File: file, Err: fmt.Errorf("expected a history, found an empty file: it begins with a line such as %s", exampleHeader)}
	}
	if err != nil {
		return nil, err
	}
	h, field, err := ParseHeader(line)
	if err != nil {
		return nil, r.fault(field, err)
	}
	r.header = h
	return r, nil
}

// Only has Next pass over the events whose seq is not listed, without a look at
// the rest of their lines: for a file that was read before.
func (r *Reader) Only(seqs map[uint64]bool) { r.only = seqs }

// passesOver reports whether a line begins with a seq that nobody wants. JSON's
// white space may stand anywhere; a line that begins otherwise is read.
func (r *Reader) passesOver(line []byte) bool {
	if r.only == nil {
		return false
	}
	s := scanner{line: line}
	if !s.take('{') || s.next() != '"' || !s.word(`"seq"`) || !s.take(':') {
		return false
	}
	s.blanks()
	seq, ok := s.digits()
	return ok && !r.only[seq]
}

// Header is the header line.
func (r *Reader) Header() Header { return r.header }

// At is the file's name and the number of the line that was read last.
func (r *Reader) At() (string, int) { return r.file, r.in.number }

// Next reads the next event. Empty lines are passed over. A line that begins
// like a header is an error: two files were put together.
func (r *Reader) Next(e *event.Event) error {
	line, err := r.line()
	for err == nil && r.passesOver(line) {
		line, err = r.line()
	}
	if err != nil {
		return err
	}
	had := r.parser.parse(line, e)
	if err := r.parser.err; err != nil {
		return r.fault(r.parser.field, err)
	}
	if had&hasKind == 0 && bytes.Contains(line, []byte(versionKey)) {
		return r.fault("", errors.New("expected an event, found a second header: give the files one by one, tidemark check FILE FILE"))
	}
	if field, err := complete(e.Kind, had); err != nil {
		return r.fault(field, err)
	}
	if field, err := sensible(e); err != nil {
		return r.fault(field, err)
	}
	if had&hasClockErr == 0 {
		e.ClockErr = r.header.ClockErr
	}
	return r.number(e, had)
}

// number sees to it that the events have rising numbers, or rising times where
// time is what orders them.
func (r *Reader) number(e *event.Event, had fields) error {
	if r.last == 0 {
		r.rows = had&hasSeq == 0
	}
	switch {
	case r.rows && had&hasSeq != 0:
		return r.fault("seq", errors.New("expected none, as the first event has none"))
	case r.rows:
		e.Seq = r.last + 1
	case had&hasSeq == 0:
		return r.fault("seq", errors.New("missing: the first event has one, so all must"))
	case e.Seq <= r.last:
		return r.fault("seq", fmt.Errorf("expected more than %d, which the event before has, found %d: sort the lines by seq", r.last, e.Seq))
	}
	if r.header.Clock == ByTime && r.last != 0 && e.At < r.lastAt {
		return r.fault("t_ns", fmt.Errorf("expected at least %d, which the event before has, found %d: sort the lines by t_ns", r.lastAt, e.At))
	}
	r.last, r.lastAt = e.Seq, e.At
	return nil
}

// line is the next line that is not empty.
func (r *Reader) line() ([]byte, error) {
	for {
		line, err := r.in.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, r.fault("", err)
		}
		if err != nil {
			return nil, io.EOF
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

func (r *Reader) fault(field string, err error) error {
	return &Error{File: r.file, Line: r.in.number, Field: field, Err: err}
}
