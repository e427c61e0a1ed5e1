package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"tidemark/checker/history"
	"tidemark/checker/history/jepsen"
	"tidemark/checker/history/kgoverifier"
	"tidemark/checker/history/verifiable"
)

// Names of the formats.
const (
	formatAuto        = "auto"
	formatTidemark    = "tidemark"
	formatJepsen      = "jepsen"
	formatVerifiable  = "verifiable"
	formatKgoVerifier = "kgo-verifier"
)

var formats = []string{formatAuto, formatTidemark, formatJepsen, formatVerifiable, formatKgoVerifier}

// checkInput is a history in files that can be read more than once.
type checkInput struct {
	files  []string // as the command line names them
	paths  []string // where they are
	format string
	given  overrides
	// clockErr is how wrong the clocks of histories are that do not say, ns.
	clockErr int64
}

// stdinName is standard input on the command line.
const stdinName = "-"

// newCheckInput looks at the names and the format. Standard input is copied to a
// file, because the witnesses are looked up after the verdict; done removes it.
func newCheckInput(files []string, f checkFlags, given overrides) (in *checkInput, done func(), err error) {
	if !slices.Contains(formats, f.format) {
		return nil, nil, usageError("--format is %q: write one of %s", f.format, strings.Join(formats, ", "))
	}
	if f.clockErr < 0 {
		return nil, nil, usageError("--clock-error is %v: write how wrong a clock may be either way, 0 or more", f.clockErr)
	}
	files = slices.Sorted(slices.Values(files)) // what is told of equal times is not to depend on how they are named
	in = &checkInput{files: files, paths: slices.Clone(files), format: f.format, given: given, clockErr: int64(f.clockErr)}
	done = func() {}
	for i, name := range files {
		if slices.Contains(files[:i], name) {
			return nil, nil, usageError("%s is given twice", name)
		}
		if name != stdinName {
			continue
		}
		if in.paths[i], err = spool(os.Stdin); err != nil {
			return nil, nil, usageError("standard input: %w", err)
		}
		done = func() { os.Remove(in.paths[i]) }
	}
	return in, done, nil
}

func spool(r io.Reader) (string, error) {
	f, err := os.CreateTemp("", "tidemark-check-")
	if err != nil {
		return "", err
	}
	if _, err := io.Copy(f, r); err != nil {
		f.Close()
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), f.Close()
}

// openHistory is a history that is being read.
type openHistory struct {
	history.Stream
	files []*os.File
}

// Close closes the files.
func (o *openHistory) Close() {
	for _, f := range o.files {
		f.Close()
	}
}

// open begins to read the history; p, if not nil, is told how far it is. If only
// is not nil, other events may be passed over.
func (in *checkInput) open(p *progress, only map[uint64]bool) (*openHistory, error) {
	o := &openHistory{}
	var parts []history.Stream
	read := &counted{progress: p}
	for i, path := range in.paths {
		f, err := os.Open(path)
		if err == nil {
			var info os.FileInfo
			if info, err = f.Stat(); err == nil && info.IsDir() {
				err = errors.New("it is a directory")
			}
			if err == nil {
				read.total += info.Size()
			}
			o.files = append(o.files, f)
		}
		var part history.Stream
		if err != nil {
			err = &history.Error{File: in.files[i], Err: fmt.Errorf("cannot be read: %w", inner(err))}
		} else {
			part, err = in.read(in.files[i], &countingReader{f, read})
		}
		if err == nil {
			part, err = toldSettings(part)
		}
		if err != nil {
			o.Close()
			return nil, err
		}
		parts = append(parts, part)
	}
	if len(parts) == 1 {
		o.Stream = parts[0]
		if t, told := o.Stream.(*told); told {
			t.only(only)
		}
	} else {
		m, err := history.Merge(parts...)
		if err != nil {
			o.Close()
			return nil, err
		}
		o.Stream = m
	}
	o.Stream = in.given.over(o.Stream)
	return o, nil
}

// inner is the fault without the name of the file, which the message has already.
func inner(err error) error {
	if e := errors.Unwrap(err); e != nil {
		return e
	}
	return err
}

// sniffed is how much of a file's beginning tells its format, bytes.
const sniffed = 4096

// read opens one file in its format.
func (in *checkInput) read(name string, r io.Reader) (history.Stream, error) {
	b := bufio.NewReaderSize(r, sniffed)
	begins, _ := b.Peek(sniffed)
	if err := notText(begins); err != nil {
		return nil, &history.Error{File: name, Err: err}
	}
	if bytes.HasPrefix(begins, []byte(byteOrderMark)) {
		begins = begins[len(byteOrderMark):]
		if _, err := b.Discard(len(byteOrderMark)); err != nil {
			return nil, &history.Error{File: name, Err: err}
		}
	}
	format := in.format
	if format == formatAuto {
		format = sniff(begins)
	}
	o := history.ImportOptions{Alone: len(in.files) == 1, ClockErr: in.clockErr}
	switch format {
	case formatJepsen:
		return jepsen.Read(name, b, jepsen.Options{})
	case formatVerifiable:
		return verifiable.Read(name, b, o)
	case formatKgoVerifier:
		return kgoverifier.Read(name, b, o)
	}
	own, err := history.NewReader(name, b)
	if err != nil && in.format == formatAuto && len(begins) > 0 && !bytes.Contains(begins, []byte(`"tidemark_history"`)) {
		err = fmt.Errorf("%w; if it is a history of another format, say which: --format %s", err, strings.Join(formats[2:], ", "))
	}
	if err != nil {
		return nil, err
	}
	return own, nil
}

// byteOrderMark is what some editors put before UTF-8; it says nothing.
const byteOrderMark = "\xef\xbb\xbf"

// notText tells of files whose beginning shows that they are no text to read.
func notText(begins []byte) error {
	for _, kind := range []struct{ magic, fault string }{
		{"\x1f\x8b", "it is compressed with gzip: decompress it first, gzip -dc FILE | tidemark check -"},
		{"\x28\xb5\x2f\xfd", "it is compressed with zstd: decompress it first, zstd -dc FILE | tidemark check -"},
		{"\xfd7zXZ\x00", "it is compressed with xz: decompress it first, xz -dc FILE | tidemark check -"},
		{"BZh", "it is compressed with bzip2: decompress it first, bzip2 -dc FILE | tidemark check -"},
		{"PK\x03\x04", "it is a zip archive: unpack it first"},
		{"\xff\xfe", "it is UTF-16: write it as UTF-8"},
		{"\xfe\xff", "it is UTF-16: write it as UTF-8"},
	} {
		if bytes.HasPrefix(begins, []byte(kind.magic)) {
			return errors.New("expected text, found a file that is none: " + kind.fault)
		}
	}
	return nil
}

// sniff tells a file's format by its beginning; what looks like none of the
// others is taken to be tidemark's own, whose reader says what it expected.
func sniff(begins []byte) string {
	switch {
	case jepsen.Looks(begins):
		return formatJepsen
	case verifiable.Looks(begins):
		return formatVerifiable
	case kgoverifier.Looks(begins):
		return formatKgoVerifier
	}
	return formatTidemark
}

// counted is how much of all files has been read.
type counted struct {
	progress    *progress
	done, total int64 // bytes
}

// countingReader tells how far a file has been read.
type countingReader struct {
	r io.Reader
	c *counted
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.c.done += int64(n)
	if p := c.c.progress; p != nil && p.due() {
		fmt.Fprintf(p.w, "\r%s: %d of %d MiB", p.title, c.c.done>>20, c.c.total>>20)
	}
	return n, err
}
