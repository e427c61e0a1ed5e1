package history

import (
	"bufio"
	"fmt"
	"io"

	"tidemark/model/event"
)

// Writer writes a history. Events must come in the order of their numbers; it is
// for one caller at a time.
type Writer struct {
	out  *bufio.Writer
	line []byte
	err  error
}

// NewWriter writes the header. Errors are kept for Flush.
func NewWriter(w io.Writer, h Header) *Writer {
	out := &Writer{out: bufio.NewWriterSize(w, 1<<16)}
	out.write(AppendHeader(nil, h))
	return out
}

// Write writes an event as it is.
func (w *Writer) Write(e *event.Event) {
	w.line = event.AppendJSON(w.line[:0], e)
	w.write(w.line)
}

func (w *Writer) write(line []byte) {
	if w.err != nil {
		return
	}
	if _, w.err = w.out.Write(line); w.err == nil {
		w.err = w.out.WriteByte('\n')
	}
}

// Flush hands over what is buffered and tells of the first fault since NewWriter.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err != nil {
		return fmt.Errorf("write a history: %w", w.err)
	}
	return nil
}
