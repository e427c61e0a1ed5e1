package disktest

import (
	"io"
	"strings"

	"tidemark/disk"
)

// zeros is a content of n zero bytes.
func zeros(n int) string { return strings.Repeat("\x00", n) }

// pattern is a content of n bytes in which no two pages or sectors are equal.
func pattern(n int) string {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(1 + (i+i/251)%250)
	}
	return string(p)
}

// contents are the promises about the content of files.
var contents = []promise{
	{"a write is seen at once through every handle", func(t *try) {
		f := t.create("log", "abc")
		g := t.open("log")
		t.write(f, 1, "XY")
		t.holds(g, "aXY")
		t.write(g, 3, "Z")
		t.holds(f, "aXYZ")
	}},
	{"writes of any size at any place are read back", func(t *try) {
		f := t.create("log", "")
		want := pattern(20_000)
		for off := 0; off < len(want); {
			n := min(1+off/3, len(want)-off)
			t.write(f, int64(off), want[off:off+n])
			off += n
		}
		t.holds(f, want)
		t.write(f, 4_000, "over the border of a page")
		t.holds(f, want[:4_000]+"over the border of a page"+want[4_025:])
	}},
	{"a read at the end is short with EOF", func(t *try) {
		f := t.create("log", "abc")
		p := []byte("------")
		n, err := f.ReadAt(p, 1)
		if n != 2 || err != io.EOF || string(p[:n]) != "bc" {
			t.Fatalf("read %d bytes %q: %v", n, p[:n], err)
		}
		for _, off := range []int64{3, 4, 100_000} {
			if n, err := f.ReadAt(p, off); n != 0 || err != io.EOF {
				t.Fatalf("at %d: read %d bytes: %v", off, n, err)
			}
		}
	}},
	{"a hole reads as zeros", func(t *try) {
		f := t.create("log", "abc")
		t.write(f, 10_000, "def")
		t.holds(f, "abc"+zeros(9_997)+"def")
	}},
	{"a far hole takes no space", func(t *try) {
		f := t.create("log", "")
		t.write(f, 1<<40, "far")
		size, err := f.Size()
		t.must(err)
		p := []byte("-----")
		_, err = f.ReadAt(p, 1<<40-2)
		t.must(err)
		if size != 1<<40+3 || string(p) != "\x00\x00far" {
			t.Fatalf("size %d, bytes %q", size, p)
		}
		t.must(f.Truncate(0))
	}},
	{"truncation shrinks, and growth after it is zeros", func(t *try) {
		f := t.create("log", pattern(9_000))
		t.must(f.Truncate(5_000))
		t.holds(f, pattern(9_000)[:5_000])
		t.must(f.Truncate(9_000))
		t.holds(f, pattern(9_000)[:5_000]+zeros(4_000))
	}},
	{"a write beyond a shrunk end leaves zeros between", func(t *try) {
		f := t.create("log", pattern(9_000))
		t.sync(f)
		t.must(f.Truncate(100))
		t.write(f, 8_990, "end")
		t.holds(f, pattern(100)+zeros(8_890)+"end")
		t.sync(f)
		t.holds(f, pattern(100)+zeros(8_890)+"end")
	}},
	{"what was truncated stays away while the truncation is synced", func(t *try) {
		f := t.create("log", pattern(9_000))
		t.sync(f)
		t.must(f.Truncate(100))
		f.Sync(t.token())
		t.must(f.Truncate(9_000))
		t.holds(f, pattern(100)+zeros(8_900))
		t.completes(nil)
		t.holds(f, pattern(100)+zeros(8_900))
	}},
	{"growth reads as zeros and counts in the size", func(t *try) {
		f := t.create("log", "abc")
		t.must(f.Truncate(10_000_000))
		size, err := f.Size()
		t.must(err)
		if size != 10_000_000 {
			t.Fatalf("size %d", size)
		}
		t.must(f.Truncate(5))
		t.holds(f, "abc\x00\x00")
	}},
	{"an empty write changes nothing", func(t *try) {
		f := t.create("log", "abc")
		t.write(f, 100, "")
		t.holds(f, "abc")
	}},
	{"a closed handle refuses everything", func(t *try) {
		f := t.create("log", "abc")
		t.must(f.Close())
		_, err := f.ReadAt(make([]byte, 1), 0)
		t.wants(err, disk.ErrClosed)
		_, err = f.WriteAt([]byte("x"), 0)
		t.wants(err, disk.ErrClosed)
		_, err = f.Size()
		t.wants(err, disk.ErrClosed)
		t.wants(f.Truncate(0), disk.ErrClosed)
		t.wants(f.Close(), disk.ErrClosed)
		f.Sync(t.token())
		t.completes(disk.ErrClosed)
		t.finds("log", "abc")
	}},
}
