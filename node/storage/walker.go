package storage

import (
	"errors"
	"io"

	"tidemark/disk"
	"tidemark/model/record"
)

// How many bytes a walker reads at a time: those in which the default index interval
// and a header fit, or as much as the processor's caches keep until a scan has
// checked it. A look-up has an idea of how far it has to go.
const (
	walkChunk = 4096 + record.Overhead
	scanChunk = 256 << 10
)

// walker walks the batches of a segment file. It keeps its buffer, and what it
// returns aliases it: one batch at a time.
type walker struct {
	file disk.File
	pos  int64 // of the next batch, bytes
	end  int64 // of the bytes to walk

	buf   []byte // bytes of the file from position at
	at    int64
	chunk int // bytes
	found int // bytes of the batch that the last look-up found
}

// reset makes the walker start at pos; it ends at end.
func (w *walker) reset(file disk.File, pos, end int64) {
	*w = walker{file: file, pos: pos, end: end, buf: w.buf[:0], chunk: walkChunk, found: w.found}
}

// seek is reset for a look-up that expects what it looks for within near bytes.
func (w *walker) seek(file disk.File, pos, end int64, near int) {
	w.reset(file, pos, end)
	w.chunk = near
}

// scan is reset for a walk over everything; release then gives its memory back.
func (w *walker) scan(file disk.File, end int64) {
	w.reset(file, 0, end)
	w.chunk = scanChunk
}

// release gives a large buffer up: there are as many walkers as logs.
func (w *walker) release() {
	if cap(w.buf) > walkChunk {
		w.buf = nil
	}
}

// head returns the header of the next batch and the size of the whole. io.EOF
// at the end, record.ErrTruncated if the bytes end inside the batch,
// record.ErrCorrupt if none begins here; else an error of the disk.
func (w *walker) head() (header record.Batch, size int, err error) {
	left := w.end - w.pos
	if left <= 0 {
		return nil, 0, io.EOF
	}
	b, err := w.window(int(min(left, record.Overhead)))
	if err != nil {
		return nil, 0, err
	}
	header = record.Batch(b)
	if len(b) < record.Overhead || header.Magic() != record.Magic || header.Length() < record.Overhead-record.LogOverhead {
		_, _, err = record.Next(b) // knows what is wrong
		return nil, 0, err
	}
	if size = record.LogOverhead + int(header.Length()); left < int64(size) {
		return nil, 0, record.ErrTruncated
	}
	return header, size, nil
}

// batch returns the next batch as a whole; head said its size.
func (w *walker) batch(size int) (record.Batch, error) {
	b, err := w.window(size)
	return record.Batch(b), err
}

// next returns the next batch as a whole, checked, and moves behind it. The
// errors are those of head, and record.ErrCorrupt for a wrong CRC.
func (w *walker) next() (record.Batch, error) {
	_, size, err := w.head()
	if err != nil {
		return nil, err
	}
	b, err := w.batch(size)
	if err != nil {
		return nil, err
	}
	w.skip(size)
	return b, b.Check()
}

// skip moves to the batch after one of the given size.
func (w *walker) skip(size int) { w.pos += int64(size) }

// window returns the n bytes at pos, which lie before end.
func (w *walker) window(n int) ([]byte, error) {
	from := w.pos - w.at
	if from < 0 || from+int64(n) > int64(len(w.buf)) {
		if err := w.load(n); err != nil {
			return nil, err
		}
		from = 0
	}
	return w.buf[from : from+int64(n)], nil
}

// load reads a chunk at pos, at least n bytes of it.
func (w *walker) load(n int) error {
	want := int(min(int64(max(n, w.chunk)), w.end-w.pos))
	if cap(w.buf) < want {
		w.buf = make([]byte, max(want, walkChunk))
	}
	w.buf, w.at = w.buf[:want], w.pos
	got, err := w.file.ReadAt(w.buf, w.pos)
	if got == want {
		return nil
	}
	w.buf = w.buf[:0]
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // end came from the file's own size
	}
	return err
}
