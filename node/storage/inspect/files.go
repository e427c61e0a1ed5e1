package inspect

import (
	"errors"
	"io"

	"tidemark/disk"
)

// Files is what is inspected: the part of disk.FS that reads. Names have slashes.
type Files interface {
	// List returns the names in a directory, directories with a trailing slash,
	// sorted. The error wraps disk.ErrNotExist if there is none.
	List(dir string) ([]string, error)
	// Open opens a file for reading. The error wraps disk.ErrNotExist if there is
	// none.
	Open(name string) (File, error)
}

// File is an open file; Size is in bytes.
type File interface {
	io.ReaderAt
	Size() (int64, error)
	Close() error
}

// On inspects what a lane sees of a disk.
func On(fs disk.FS) Files { return diskFiles{fs} }

type diskFiles struct{ fs disk.FS }

func (d diskFiles) List(dir string) ([]string, error) { return d.fs.List(dir) }

func (d diskFiles) Open(name string) (File, error) { return d.fs.Open(name) }

// join puts a name behind a directory; "" is the root.
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// chunk is how many bytes a source reads at a time.
const chunk = 256 << 10

// source reads a file through a window.
type source struct {
	path string
	file File
	size int64
	buf  []byte // the file's bytes from position at
	at   int64
}

// open opens a file that must exist.
func open(files Files, path string) (*source, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &source{path: path, file: f, size: size}, nil
}

// bytes returns the n bytes at pos, which lie in the file; they are valid until
// the next call.
func (s *source) bytes(pos int64, n int) ([]byte, error) {
	from := pos - s.at
	if from >= 0 && from+int64(n) <= int64(len(s.buf)) {
		return s.buf[from : from+int64(n)], nil
	}
	want := int(min(int64(max(n, chunk)), s.size-pos))
	if cap(s.buf) < want {
		s.buf = make([]byte, want)
	}
	s.buf, s.at = s.buf[:want], pos
	got, err := s.file.ReadAt(s.buf, pos)
	if got == want {
		return s.buf[:n], nil
	}
	s.buf = s.buf[:0]
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // it was cut while it was read
	}
	return nil, err
}

// wasCut tells whether an error of a read comes of the file being shorter by now: a
// broker trims an index that it rolls, and truncates the log of a follower. Its
// size is the new one then, but not less than pos.
func (s *source) wasCut(err error, pos int64) bool {
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	n, err := s.file.Size()
	if err != nil || n >= s.size {
		return false
	}
	s.size = max(n, pos)
	return true
}

// firstNonZero is the position of the first byte from pos on that is not zero, or
// the file's size.
func (s *source) firstNonZero(pos int64) (int64, error) {
	for pos < s.size {
		b, err := s.bytes(pos, int(min(chunk, s.size-pos)))
		if err != nil {
			return pos, err
		}
		for i, c := range b {
			if c != 0 {
				return pos + int64(i), nil
			}
		}
		pos += int64(len(b))
	}
	return pos, nil
}

// close gives the file up; nil is no file.
func (s *source) close() {
	if s != nil {
		s.file.Close() // it was only read
	}
}

// maxText bounds the text files of a log directory, in bytes: checkpoints of a
// million partitions are smaller.
const maxText = 64 << 20

// readText returns the content of a text file; not ok if there is none.
func readText(files Files, path string) (t text, ok bool, err error) {
	s, err := open(files, path)
	if errors.Is(err, disk.ErrNotExist) {
		return text{}, false, nil
	}
	if err != nil {
		return text{}, false, err
	}
	t, err = s.whole()
	s.close()
	return t, true, err
}

// whole reads a text file.
func (s *source) whole() (t text, err error) {
	t.src = s
	if s.size > maxText {
		return t, s.fault(maxText, "%d bytes are too many for a file of this kind", s.size)
	}
	if s.size > 0 {
		t.content, err = s.bytes(0, int(s.size))
	}
	return t, err
}

// text is a small file as a whole.
type text struct {
	src     *source
	content []byte
}

// line is a line of a text and where it begins.
type line struct {
	pos  int64
	text string
}

// lines splits the content; a newline at its end ends the last line.
func (t text) lines() (all []line) {
	start := 0
	for i, c := range t.content {
		if c == '\n' {
			all = append(all, line{int64(start), string(t.content[start:i])})
			start = i + 1
		}
	}
	if start < len(t.content) {
		all = append(all, line{int64(start), string(t.content[start:])})
	}
	return all
}
