package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// lines cuts a file into lines without copying them.
type lines struct {
	in       io.Reader
	buf      []byte
	from, to int // buf[from:to] is read and not given out
	number   int // of the line given out last, from 1
	err      error
}

// Sizes of the buffer, bytes: at first, and at most.
const (
	firstBuffer = 1 << 18
	longestLine = 1 << 26
)

// next is the next line without its end; it is good until the call after. The
// last line may lack its end.
func (l *lines) next() ([]byte, error) {
	scanned := 0
	for {
		if i := bytes.IndexByte(l.buf[l.from+scanned:l.to], '\n'); i >= 0 {
			line := l.buf[l.from : l.from+scanned+i]
			l.from += scanned + i + 1
			l.number++
			return line, nil
		}
		scanned = l.to - l.from
		if l.err != nil {
			return l.rest()
		}
		if scanned == longestLine {
			l.number++
			return nil, fmt.Errorf("expected a line of at most %d MiB", longestLine>>20)
		}
		l.fill()
	}
}

// rest is what stands behind the last line end.
func (l *lines) rest() ([]byte, error) {
	if l.from == l.to || !errors.Is(l.err, io.EOF) {
		return nil, l.err
	}
	line := l.buf[l.from:l.to]
	l.from = l.to
	l.number++
	return line, nil
}

// fill reads more behind what is there.
func (l *lines) fill() {
	if l.from > 0 {
		copy(l.buf, l.buf[l.from:l.to])
		l.from, l.to = 0, l.to-l.from
	}
	if l.to == len(l.buf) {
		bigger := make([]byte, min(max(firstBuffer, 2*len(l.buf)), longestLine))
		copy(bigger, l.buf[:l.to])
		l.buf = bigger
	}
	for range 100 {
		n, err := l.in.Read(l.buf[l.to:])
		l.to += n
		l.err = err
		if n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}
